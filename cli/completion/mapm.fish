# fish completion for mapm
# The command and its arguments on the line up to the cursor.
function __mapm_words
  set -l words (commandline -opc)
  set -l skip
  set -l only
  for word in $words[2..-1]
    if set -q only[1]
      echo $word
    else if set -q skip[1]
      set skip
    else
      switch $word
        case{{skipped}}
          set skip 1
        case --
          set only 1
        case '-*'
        case '*'
          echo $word
      end
    end
  end
end
function __mapm_first
  test (count (__mapm_words)) -eq 0
end
function __mapm_at
  set -l words (__mapm_words)
  test "$(__mapm_command $words[1])" = $argv[1]
  and begin
    not set -q argv[2]
    or test (count $words) -eq $argv[2]
  end
end
function __mapm_packages
  mapm list -q {{list names}}
end
function __mapm_servers
  mapm list {{server keys}}
end
function __mapm_skills
  if string match -qr '^[./~]' -- (commandline -ct)
    __fish_complete_directories
  else
    mapm skill list -q {{metaskill names}}
  end
end
function __mapm_runs
  mapm runs -q {{run ids}}
end
function __mapm_offers
  set -l words (__mapm_words)
  set -l kind $argv[1]
  set -l origins (string match -- '*/*' $words[2..-1])
  set -q origins[1]
  and mapm install -n -q -- $origins {{offered names}}
end
function __mapm_second
  set -l words (__mapm_words)
  test (count $words) -ge 2
  and contains -- $words[2] $argv
end
function __mapm_library
  mapm skill list -q {{skill names}}
end
complete -c mapm -f
function __mapm_command
  switch "$argv[1]"
{{aliases}}
    case '*'
      echo $argv[1]
  end
end
{{commands}}
