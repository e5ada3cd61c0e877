#compdef mapm
_mapm_packages() {
  local -a names
  names=(${(f)"$(mapm list -q {{packages}})"})
  compadd -a names
}
_mapm_skills() {
  if [[ $PREFIX == [./~]* ]]; then
    _files -/
  else
    _mapm_packages
  fi
}
_mapm_library() {
  local -a names
  local word
  for word in {{words}}; do
    [[ -n ${words[(re)$word]} ]] || continue
    names=(${(f)"$(mapm skill list -q {{skills}})"})
    compadd -a names
    return
  done
}
_mapm() {
  local curcontext=$curcontext state line ret=1
  local -A opt_args
  local -a commands
  commands=(
{{commands}}  )
  _arguments -C -s -S \
{{options}}      '1:command:->command' \
      '*::argument:->argument' && return 0
  case $state in
  command) _describe -t commands command commands && ret=0 ;;
  argument)
    case $words[1] in
{{cases}}    esac ;;
  esac
  return ret
}
if [[ $funcstack[1] == _mapm ]]; then
  _mapm "$@"
else
  compdef _mapm mapm
fi
