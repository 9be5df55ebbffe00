import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../../bin/millrace.js', import.meta.url))

/** The path of a module in fixtures. */
export const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

/** `millrace` as a process of its own. Killed at the end of its scope, if it still runs then. */
export class Program implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>
  #out = ''
  #err = ''
  #onOutput = () => {}

  constructor(args: readonly string[], env: Record<string, string> = {}) {
    const { DATABASE_URL: _, PORT: __, HOST: ___, npm_lifecycle_event: ____, ...inherited } = process.env
    this.#child = spawn(process.execPath, [bin, ...args], { env: { ...inherited, ...env } })
    this.#child.stdout?.on('data', (chunk) => this.#hear({ out: String(chunk) }))
    this.#child.stderr?.on('data', (chunk) => this.#hear({ err: String(chunk) }))
    this.#closed = once(this.#child, 'close').then(() => this.#onOutput())
  }

  /** Resolves when what it has printed so far, on stdout or stderr, matches. */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(`${this.#out}\n${this.#err}`)
      if (match !== null) return match
      if (this.#hasEnded) throw new Error(`It ended without saying ${pattern}:\n${this.#out}\n${this.#err}`)
      await new Promise<void>((resolve) => {
        this.#onOutput = resolve
      })
    }
  }

  /** Onto its standard input. */
  write(text: string): void {
    this.#child.stdin?.write(text)
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  async ended(): Promise<{ code: number | null; out: string; err: string }> {
    await this.#closed
    return { code: this.#child.exitCode, out: this.#out, err: this.#err }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) this.#child.kill('SIGKILL')
    await this.#closed
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  #hear({ out = '', err = '' }: { out?: string; err?: string }): void {
    this.#out += out
    this.#err += err
    this.#onOutput()
  }
}

export async function get(url: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(url)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
