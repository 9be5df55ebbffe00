// --watch: a command that looks at something looks again and again, until a person ends it, a signal comes, or nobody reads its
// output any more. On a terminal the answer is drawn in place; elsewhere one follows the other, with --json as a line each.
import { type Command, Option } from 'commander'
import { type Duration, toMs } from 'millrace'
import { painted } from './colours.ts'
import { parseDuration } from './commands/worker-options.ts'
import { failureText } from './failure.ts'
import { isQuit, LiveScreen, type Terminal } from './live-screen.ts'
import { argument, oneLine, printed } from './print.ts'
import { safeLines } from './terminal.ts'

export interface WatchOptions {
  readonly watch?: true
  readonly every?: Duration
  readonly json?: true
}

export function addWatchOptions(command: Command): Command {
  return command
    .option('--watch', 'look again and again, until Ctrl-C; with --json it prints a line each time')
    .addOption(new Option('--every <duration>', 'with --watch: how often').argParser(parseInterval).default('2s'))
}

const LEAST_MS = 500

/** A reading may count all live jobs: many a second would be a load of its own. */
export function parseInterval(text: string): Duration {
  const duration = parseDuration(text)
  return toMs(duration, '--every') < LEAST_MS ? `${LEAST_MS}ms` : duration
}

/** The first failure of `act` is thrown. Later ones are told, because a server may be gone for a while. */
export async function watch(
  command: Command,
  options: WatchOptions,
  act: () => Promise<void>,
  { input, output }: Terminal = { input: process.stdin, output: process.stdout },
): Promise<void> {
  const everyMs = toMs(options.every ?? '2s', '--every')
  const first = await printed(act)
  const ending = new Ending(output)
  const isScreen = output.isTTY && !options.json
  const view = isScreen ? new ScreenView(command, everyMs, { input, output }, ending) : new LineView(output, options)
  try {
    view.show(first)
    for (;;) {
      if (await ending.within(everyMs)) return
      const reading = await Promise.race([printed(act).then(...told), ending.promise])
      if (reading === undefined) return
      if ('text' in reading) view.show(reading.text)
      else view.tell(reading.failure)
    }
  } finally {
    ending.forget()
    view.close()
  }
}

const told = [
  (text: string) => ({ text }),
  (error: unknown) => ({ failure: oneLine(failureText(error).split('\n')[0] ?? '', 500) }),
] as const

/** Why it ends: Ctrl-C, a signal, a key, or a reader who left. */
class Ending {
  readonly promise: Promise<undefined>
  readonly #output: NodeJS.WriteStream
  #isOver = false
  #resolve: () => void = () => {}
  readonly end = (): void => {
    this.#isOver = true
    this.#resolve()
  }

  constructor(output: NodeJS.WriteStream) {
    this.#output = output
    this.promise = new Promise((resolve) => {
      this.#resolve = () => resolve(undefined)
    })
    // Once: a second signal ends the process, should the first one not be heeded.
    process.once('SIGINT', this.end)
    process.once('SIGTERM', this.end)
    output.once('error', this.end)
    output.once('close', this.end)
  }

  /** Whether it ended within this time. */
  async within(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const time = new Promise((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    await Promise.race([time, this.promise])
    clearTimeout(timer)
    return this.#isOver
  }

  forget(): void {
    process.off('SIGINT', this.end)
    process.off('SIGTERM', this.end)
    this.#output.off('error', this.end)
    this.#output.off('close', this.end)
  }
}

class ScreenView {
  readonly #screen: LiveScreen
  readonly #terminal: Terminal
  readonly #title: string
  #text = ''
  #at = new Date()
  #failure: string | undefined

  constructor(command: Command, everyMs: number, terminal: Terminal, ending: Ending) {
    this.#title = `Every ${everyMs / 1_000} s: ${commandLine(command)}`
    this.#terminal = terminal
    this.#screen = new LiveScreen(terminal, {
      onKey: (key) => isQuit(key) && ending.end(),
      onResize: () => this.#draw(),
    })
    this.#screen.open()
  }

  show(text: string): void {
    this.#text = text
    this.#at = new Date()
    this.#failure = undefined
    this.#draw()
  }

  tell(failure: string): void {
    this.#failure = failure
    this.#draw()
  }

  /** What was seen last stays on the terminal. */
  close(): void {
    this.#screen.close()
    this.#terminal.output.write(painted(safeLines(this.#text)))
  }

  #draw(): void {
    const { columns, rows } = this.#screen.size
    const time = this.#at.toTimeString().slice(0, 8)
    const right = this.#failure === undefined ? `${time}   q quit` : `OLD, of ${time}   q quit`
    const title = oneLine(this.#title, Math.max(10, columns - right.length - 3)).padEnd(columns - right.length)
    const failed = this.#failure === undefined ? [] : [`The last look failed: ${this.#failure}`]
    const lines = this.#text.trimEnd().split('\n')
    const room = rows - 2 - failed.length
    const shown =
      lines.length <= room ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more lines`]
    this.#screen.draw([`${title}${right}`, ...failed, '', ...shown].slice(0, rows))
  }
}

/** One answer after the other, for files and pipes. */
class LineView {
  readonly #output: NodeJS.WriteStream
  readonly #isJson: boolean
  #isFirst = true

  constructor(output: NodeJS.WriteStream, { json }: WatchOptions) {
    this.#output = output
    this.#isJson = json === true
  }

  show(text: string): void {
    const gap = this.#isFirst ? '' : '\n'
    this.#isFirst = false
    this.#output.write(this.#isJson ? text : `${gap}${new Date().toISOString()}\n${text}`)
  }

  tell(failure: string): void {
    process.stderr.write(`${new Date().toISOString()} The last look failed: ${failure}\n`)
  }

  close(): void {}
}

/** As it was typed. */
function commandLine(command: Command): string {
  let root = command
  while (root.parent !== null) root = root.parent
  const given = (root as Command & { rawArgs?: readonly string[] }).rawArgs?.slice(2) ?? []
  return ['millrace', ...given.filter((each) => each !== '--watch').map(argument)].join(' ')
}
