import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const bin = fileURLToPath(new URL('../../bin/millrace.js', import.meta.url))

/** The path of a module in fixtures. */
export const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

/** A line of the log. */
export type Line = Record<string, unknown> & { msg: string; pid: number }

/** `millrace` as a process of its own, and head of its group. The group is killed at the end of its scope. */
export class Program implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>
  #out = ''
  #err = ''
  #isClosed = false
  #onOutput = () => {}

  /** `isShared`: it serves several tests, and its file ends it. */
  constructor(args: readonly string[], env: Record<string, string> = {}, { isShared = false } = {}) {
    const { DATABASE_URL: _, PORT: __, HOST: ___, npm_lifecycle_event: ____, ...inherited } = process.env
    this.#child = spawn(process.execPath, [bin, ...args], {
      env: { ...inherited, ...env },
      detached: true,
    })
    this.#child.stdout?.on('data', (chunk) => this.#hear({ out: String(chunk) }))
    this.#child.stderr?.on('data', (chunk) => this.#hear({ err: String(chunk) }))
    // A test that times out never comes to the end of its scope.
    if (!isShared) onTestFinished(() => this[Symbol.asyncDispose]())
    // When nobody holds its output any more: neither it nor what it started.
    this.#closed = once(this.#child, 'close').then(() => {
      this.#isClosed = true
      this.#onOutput()
    })
  }

  /** Resolves when what it has printed so far, on stdout or stderr, matches. */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(`${this.#out}\n${this.#err}`)
      if (match !== null) return match
      await this.#moreOutput(`saying ${pattern}`)
    }
  }

  /** As `| head` does when it has seen enough. */
  closeOutput(): void {
    this.#child.stdout?.destroy()
  }

  /** Onto its standard input. */
  write(text: string): void {
    this.#child.stdin?.write(text)
  }

  /** Resolves with the first line of the log, printed already or yet to come, that matches. */
  async logged(matches: (line: Line) => boolean): Promise<Line> {
    for (;;) {
      const line = this.lines.find(matches)
      if (line !== undefined) return line
      await this.#moreOutput('logging what was waited for')
    }
  }

  /** The lines of the log so far. */
  get lines(): Line[] {
    const whole = this.#err.slice(0, this.#err.lastIndexOf('\n') + 1).split('\n')
    return whole.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Line)
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** To the program and whatever it started, as a terminal does. */
  signalGroup(name: NodeJS.Signals): void {
    process.kill(-(this.#child.pid as number), name)
  }

  async ended(): Promise<{ code: number | null; out: string; err: string }> {
    await this.#closed
    return { code: this.#child.exitCode, out: this.#out, err: this.#err }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isClosed) this.signalGroup('SIGKILL')
    await this.#closed
  }

  async #moreOutput(what: string): Promise<void> {
    if (this.#isClosed) throw new Error(`It ended without ${what}:\n${this.#out}\n${this.#err}`)
    await new Promise<void>((resolve) => {
      this.#onOutput = resolve
    })
  }

  #hear({ out = '', err = '' }: { out?: string; err?: string }): void {
    this.#out += out
    this.#err += err
    this.#onOutput()
  }
}

/** Runs it to its end. */
export async function ran(args: readonly string[], env: Record<string, string> = {}) {
  await using program = new Program(args, env)
  return await program.ended()
}

export async function get(url: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(url)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
