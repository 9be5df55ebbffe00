// A process of the benchmark's own, and calls to the functions that it serves.
import { type ChildProcess, fork } from 'node:child_process'
import type { ChildApi } from './child-main.ts'

export interface Call {
  id: number
  name: string
  argument: unknown
}

export interface Answer {
  id: number
  result?: unknown
  error?: string
}

export class Child implements AsyncDisposable {
  readonly #process: ChildProcess
  readonly #gone: Promise<void>
  readonly #open = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  #calls = 0

  /** `nodeOptions`: besides those of this process. */
  constructor(nodeOptions: readonly string[] = []) {
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const
    const execArgv = [...process.execArgv, ...nodeOptions]
    this.#process = fork(new URL('./child-main.js', import.meta.url), { stdio: [...stdio], execArgv })
    this.#process.on('message', (answer: Answer) => this.#hear(answer))
    this.#gone = new Promise((resolve) => {
      this.#process.once('exit', (code, signal) => {
        const error = new Error(`a process of the benchmark ended in the middle: ${signal ?? `code ${code}`}`)
        for (const { reject } of this.#open.values()) reject(error)
        resolve()
      })
    })
  }

  call<Name extends keyof ChildApi>(
    name: Name,
    ...[argument]: Parameters<ChildApi[Name]>
  ): Promise<Awaited<ReturnType<ChildApi[Name]>>> {
    const id = ++this.#calls
    return new Promise((resolve, reject) => {
      this.#open.set(id, { resolve: resolve as (result: unknown) => void, reject })
      this.#process.send({ id, name, argument } satisfies Call, (error) => error && reject(error))
    })
  }

  #hear({ id, result, error }: Answer): void {
    const call = this.#open.get(id)
    this.#open.delete(id)
    if (error === undefined) call?.resolve(result)
    else call?.reject(new Error(error))
  }

  /** It ends by itself when nobody is connected to it any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.connected) this.#process.disconnect()
    await this.#gone
  }
}
