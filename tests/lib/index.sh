# index.sh: what the tests of .well-known indexes share, after cli.sh: the servers.

index_servers=
trap 'kill $index_servers 2>/dev/null; leave' EXIT

# serve_index FOLDER LOG: serves it until the test ends; $served is its host and port.
serve_index()
{
    : >"$2"
    "$ROOT/tests/lib/index_server.py" "$1" "$2" >"$2.port" 2>/dev/null &
    index_servers="$index_servers $!"
    await test -s "$2.port"
    served=127.0.0.1:$(cat "$2.port")
}
