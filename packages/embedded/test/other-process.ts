import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const preamble = (library: string) => `
import { once } from 'node:events'
import * as embedded from '${library}'
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
const told = async () => { process.stdin.resume(); await once(process.stdin, 'data'); process.stdin.pause(); process.stdin.unref() }
`

export interface OtherProcessOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly uid?: number
  readonly gid?: number
  /** Its own process group, as a shell gives to each command. */
  readonly detached?: boolean
  /** The built package, if not ours. */
  readonly library?: string
}

/** A Node process that runs `body`, in which there are `embedded`, `say(value)` and `await told()`. */
export class OtherProcess {
  readonly pid: number
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #lines: AsyncIterableIterator<string>
  #errors = ''

  constructor(body: string, options: OtherProcessOptions = {}) {
    const { library = import.meta.resolve('@millrace/embedded'), ...rest } = options
    const code = `${preamble(library)}\n${body}`
    this.#child = spawn(process.execPath, ['--input-type=module', '--eval', code], { cwd: '/', stdio: 'pipe', ...rest })
    this.pid = this.#child.pid as number
    this.#exited = once(this.#child, 'exit')
    this.#child.stderr?.on('data', (chunk) => {
      this.#errors += chunk
    })
    const input = this.#child.stdout as NodeJS.ReadableStream
    this.#lines = createInterface({ input })[Symbol.asyncIterator]()
  }

  /** What it says next. */
  async said<T = string>(): Promise<T> {
    const { value, done } = await this.#lines.next()
    if (done) throw new Error(`The process ended without a word.\n${this.#errors}`)
    return JSON.parse(value) as T
  }

  tell(): void {
    this.#child.stdin?.write('go\n')
  }

  async ended(): Promise<number | null> {
    await this.#exited
    return this.#child.exitCode
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}
