// The password of the pulse thread's connections, where a function of the main thread gives it. While the main thread is
// blocked there is no answer, and the connect fails at its deadline and is tried again.

export class AskedPassword {
  readonly #send: () => void
  readonly #waiting: { resolve: (password: string) => void; reject: (error: unknown) => void }[] = []

  constructor(send: () => void) {
    this.#send = send
  }

  ask(): Promise<string> {
    return new Promise((resolve, reject) => {
      const isFirst = this.#waiting.push({ resolve, reject }) === 1
      if (isFirst) this.#send()
    })
  }

  answer(password: string): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(password)
  }

  refuse(problem: string): void {
    for (const { reject } of this.#waiting.splice(0)) reject(new Error(problem))
  }
}
