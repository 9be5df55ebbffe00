// Scripts that complete commands and options in a shell, made of the commands themselves.
import { Argument, Command } from 'commander'
import { print } from '../print.ts'

const help = `
Put it where your shell finds it:

  bash   millrace completion bash > ~/.local/share/bash-completion/completions/millrace
  zsh    millrace completion zsh > "\${fpath[1]}/_millrace"
  fish   millrace completion fish > ~/.config/fish/completions/millrace.fish

or, for one session of bash:  source <(millrace completion bash)
`

const SHELLS = { bash, zsh, fish } as const

/** `root` is asked when the command runs, because it holds this one, too. */
export function completionCommand(root: () => Command): Command {
  return new Command('completion')
    .summary('print a script that completes commands and options in your shell')
    .description('Print a script that completes commands and options in bash, zsh or fish.')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SHELLS)))
    .addHelpText('after', help)
    .action((shell: keyof typeof SHELLS) => print(SHELLS[shell](placesOf(root()))))
}

/** A place on the command line: what may follow the words that lead to it. */
interface Place {
  /** 'dead redrive'; empty: the program itself. */
  readonly path: string
  readonly words: readonly { readonly text: string; readonly about: string }[]
}

function placesOf(command: Command, path: readonly string[] = []): Place[] {
  const visible = command.createHelp().visibleCommands(command)
  const words = [
    ...visible.map((each) => ({ text: each.name(), about: each.summary() || each.description() })),
    ...command
      .createHelp()
      .visibleOptions(command)
      .flatMap(({ long, description }) => (long ? [{ text: long, about: description }] : [])),
  ]
  const below = visible.filter((each) => each.name() !== 'help')
  return [{ path: path.join(' '), words }, ...below.flatMap((each) => placesOf(each, [...path, each.name()]))]
}

/** The words before the cursor, without options and what follows the last command, lead to a place. */
function bash(places: readonly Place[]): string {
  return `# bash completion of millrace
_millrace() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" next word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$next" in
      ${quotedPaths(places)}) path="$next" ;;
    esac
  done
  case "$path" in
${places.map(({ path, words }) => `    ${quoted(path)}) COMPREPLY=($(compgen -W ${quoted(words.map(({ text }) => text).join(' '))} -- "$cur")) ;;`).join('\n')}
  esac
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$cur"))
}
complete -o filenames -F _millrace millrace
`
}

function zsh(places: readonly Place[]): string {
  return `#compdef millrace
_millrace() {
  local context="" next word
  local -a choices
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    next="\${context:+$context }$word"
    case "$next" in
      ${quotedPaths(places)}) context="$next" ;;
    esac
  done
  case "$context" in
${places.map(({ path, words }) => `    ${quoted(path)}) choices=(${words.map(({ text, about }) => quoted(`${text.replaceAll(':', '\\:')}:${about}`)).join(' ')}) ;;`).join('\n')}
  esac
  _describe 'millrace' choices || _files
}
_millrace "$@"
`
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words }) => {
    const deeper = places.filter((each) => isDirectlyBelow(each.path, path)).map((each) => each.path.split(' ').at(-1))
    const seen = path === '' ? [] : path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
    const unseen = deeper.length === 0 ? [] : [`not __fish_seen_subcommand_from ${deeper.join(' ')}`]
    const condition = [...seen, ...unseen].join('; and ') || 'true'
    return words.map(({ text, about }) => {
      const what = text.startsWith('--') ? `-l ${text.slice(2)}` : `-f -a ${text}`
      return `complete -c millrace -n ${quoted(condition)} ${what} -d ${quoted(about)}`
    })
  })
  return `# fish completion of millrace\n${lines.join('\n')}\n`
}

const isDirectlyBelow = (path: string, above: string): boolean =>
  path !== above &&
  path.startsWith(above === '' ? '' : `${above} `) &&
  path.split(' ').length === (above === '' ? 1 : above.split(' ').length + 1)

const quotedPaths = (places: readonly Place[]): string =>
  places.flatMap(({ path }) => (path === '' ? [] : [quoted(path)])).join(' | ')

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
