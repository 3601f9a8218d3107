#!/bin/sh
# bdml-mpi on two hosts: two network namespaces that reach each other by one cable, with MPI over TCP. Skipped with a word
# without MPI, or where no namespace can be made.
set -eu
. "$BDML_SOURCE/tests/shell_tools.sh"
mpi=$BDML_BUILD/mpi/bdml-mpi
if [ ! -x "$mpi" ] || ! command -v mpirun >/dev/null 2>&1; then
    echo "skipped: there is no bdml-mpi or no mpirun (Debian: libopenmpi-dev, openmpi-bin)"
    exit 0
fi
PATH=$PATH:/usr/sbin:/sbin
a=bdml-a-$$ b=bdml-b-$$
leave() {
    ip netns del $a 2>/dev/null || true
    ip netns del $b 2>/dev/null || true
    rm -rf "$work"
}
trap leave EXIT
if ! ip netns add $a 2>/dev/null || ! ip netns add $b 2>/dev/null ||
    ! ip link add a$$ netns $a type veth peer name b$$ netns $b 2>/dev/null; then
    echo "skipped: no network namespace can be made here (iproute2, root)"
    exit 0
fi
ip -n $a addr add 10.77.0.1/24 dev a$$
ip -n $b addr add 10.77.0.2/24 dev b$$
for link in lo a$$; do ip -n $a link set $link up; done
for link in lo b$$; do ip -n $b link set $link up; done

# What mpirun starts its part on the second host with, in the place of ssh: AGENT HOST COMMAND...
cat >agent.sh <<END
#!/bin/sh
shift
exec ip netns exec $b sh -c "\$*"
END
chmod +x agent.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_plm_rsh_agent="$work/agent.sh" OMPI_MCA_btl=tcp,self
export OMPI_MCA_btl_tcp_if_include=10.77.0.0/24 OMPI_MCA_oob_tcp_if_include=10.77.0.0/24
hosts() { ip netns exec $a timeout -k 5 200 mpirun --host 10.77.0.1:2,10.77.0.2:2 -n 4 "$@"; }

hosts sh -c 'ip -4 -o addr show | grep -o "10[.]77[.]0[.][12]/"' >seen || fail "no job over two hosts"
[ "$(sort -u seen | wc -l)" = 2 ] || { cat seen >&2; fail "ranks on one host alone"; }
wine=$BDML_SOURCE/data/wine.csv
"$bdml" train "$wine" --scale zscore --distortion 10 -o one.bdml -q
hosts "$mpi" train "$wine" --scale zscore --distortion 10 -o two.bdml -q
for m in one two; do "$bdml" export $m.bdml --what M -o $m.csv -q; done
paste -d, one.csv two.csv | awk -F, '
    { n = NF / 2
      for (i = 1; i <= n; i++) {
          d = $i - $(i + n); a = $i
          if (d < 0) d = -d
          if (a < 0) a = -a
          if (a > most) most = a
          if (d > far) far = d } }
    END { exit !(most > 0 && far <= 1e-10 * most) }' || fail "two hosts learn another metric"
"$bdml" certify two.bdml "$wine" >/dev/null || fail "not confirmed"
echo "ok: 4 ranks on two hosts learn the model of one process"
