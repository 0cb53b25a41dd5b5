// `completion`: the names of commands and options for a shell.
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'

export function completion({ terminal }: Context, program: Command, shell: string): void {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: command.options.flatMap(({ long }) => long ?? []),
  }))
  const write = writers[shell]
  if (!write) throw new Failure('usage', 'unknown_shell', `Completions are for ${Object.keys(writers).join(', ')}`)
  const text = write(commands)
  terminal.result({ text }, () => text)
}

interface Listed {
  name: string
  description: string
  options: string[]
}

const writers: Record<string, (commands: Listed[]) => string> = {
  bash: (commands) => `_belfry() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')}" -- "$word")); return; fi
  case "\${COMP_WORDS[1]}" in
${commands.map(({ name, options }) => `    ${name}) COMPREPLY=($(compgen -W "${options.join(' ')}" -- "$word")) ;;`).join('\n')}
  esac
}
complete -o default -F _belfry belfry
`,
  zsh: (commands) => `#compdef belfry
_belfry() {
  if (( CURRENT == 2 )); then
    local -a commands=(${commands.map(({ name, description }) => `'${name}:${description.replaceAll("'", '')}'`).join(' ')})
    _describe command commands
    return
  fi
  case "$words[2]" in
${commands.map(({ name, options }) => `    ${name}) compadd -- ${options.join(' ')}; _files ;;`).join('\n')}
  esac
}
compdef _belfry belfry
`,
  fish: (commands) =>
    commands
      .flatMap(({ name, description, options }) => [
        `complete -c belfry -n __fish_use_subcommand -a ${name} -d '${description.replaceAll("'", '')}'`,
        ...options.map((option) => `complete -c belfry -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`),
      ])
      .join('\n')
      .concat('\n'),
}
