# bash completion for mapm
_mapm_offers() {
  local kind=$1
  ((${#origins[@]})) &&
    mapm install -n -q "${where[@]}" -- "${origins[@]}" {{offered names}}
}
_mapm() {
  local -a line=() where=() origins=()
  local i word glue= pending= command= first= count=0 only= prefix=
  local opts= words= files=
  ((COMP_CWORD > 0)) || return
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $i -gt 0 && ( $glue || $word == [=:]* ) ]]; then
      line[-1]+=$word
      [[ $word == [=:]* ]] && glue=1 || glue=
    else
      line+=("$word")
    fi
  done
  local cur=${line[-1]}
  for word in "${line[@]:1:${#line[@]}-2}"; do
    if [[ $pending ]]; then
      [[ $pending == -C || $pending == --directory ]] &&
        where+=(-C "$word")
      pending=
    elif [[ $only || $word != -* ]]; then
      if [[ ! $command ]]; then command=$word
      else
        ((++count == 1)) && first=$word
        [[ $word == */* ]] && origins+=("$word")
      fi
    else
      case $word in
      --) only=1 ;;
      -g|--global|--directory=*) where+=("$word") ;;
      {{pending}}) pending=$word ;;
      esac
    fi
  done
  case $command in
{{aliases}}
  esac
  if [[ ! $only && ! $pending && $cur == --*=* ]]; then
    pending=${cur%%=*}
    [[ $COMP_WORDBREAKS == *=* ]] || prefix=$pending=
    cur=${cur#*=}
  fi
{{choices}}
  if [[ ! $pending ]]; then
    opts='{{common}}'
{{commands}}
    [[ ! $only && $cur == -* ]] && words=$opts files=
  fi
  if [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -P "$prefix" -$files -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$words" -- "$cur")
  fi
}
complete -F _mapm mapm
