#compdef mapm
_mapm_packages() {
  local -a names
  names=(${(f)"$(mapm list -q {{list names}})"})
  compadd -a names
}
_mapm_servers() {
  local -a keys
  keys=(${(f)"$(mapm list {{server keys}})"})
  compadd -a keys
}
_mapm_skills() {
  if [[ $PREFIX == [./~]* ]]; then
    _files -/
  else
    local -a names
    names=(${(f)"$(mapm skill list -q {{metaskill names}})"})
    compadd -a names
  fi
}
_mapm_runs() {
  local -a ids
  [[ $words[2] == show ]] || return
  ids=(${(f)"$(mapm runs -q {{run ids}})"})
  compadd -a ids
}
_mapm_offers() {
  local -a names origins
  local kind=$1
  origins=(${(M)words[2,-1]:#[^-]*/*})
  (( $#origins )) || return
  names=(${(f)"$(mapm install -n -q -- $origins {{offered names}})"})
  compadd -a names
}
_mapm_library() {
  local -a names
  local word
  for word in {{skill words}}; do
    [[ -n ${words[(re)$word]} ]] || continue
    names=(${(f)"$(mapm skill list -q {{skill names}})"})
    compadd -a names
    return
  done
}
_mapm() {
  local curcontext=$curcontext state line ret=1
  local -A opt_args
  local -a commands
  commands=(
{{names}}
  )
  _arguments -C -s -S \
{{common}}
      '1:command:->command' \
      '*::argument:->argument' && return 0
  case $state in
  command) _describe -t commands command commands && ret=0 ;;
  argument)
    case $words[1] in
{{commands}}
    esac ;;
  esac
  return ret
}
if [[ $funcstack[1] == _mapm ]]; then
  _mapm "$@"
else
  compdef _mapm mapm
fi
