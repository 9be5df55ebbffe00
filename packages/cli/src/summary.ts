import { counted } from './worker-process.ts'

/** What is running: an aligned block for the terminal, an object for `GET /` and the log. */
export class Summary {
  readonly #lines: [label: string, value: string][] = []
  #queues: Record<string, number> = {}

  add(label: string, value: string): void {
    this.#lines.push([label, value])
  }

  addWorker(id: string, slots: Record<string, number>): void {
    this.#queues = slots
    this.add('Worker', id)
    const queues = Object.entries(slots).map(([queue, count]) => `${queue} (${counted(count, 'slot')})`)
    this.add('Queues', queues.join(', '))
  }

  asText(): string {
    const width = Math.max(...this.#lines.map(([label]) => label.length))
    const lines = this.#lines.map(([label, value]) => `  ${label.padEnd(width)}  ${value}\n`)
    return `\nMillrace is running.\n\n${lines.join('')}\nCtrl-C to stop.\n\n`
  }

  asObject(): Record<string, unknown> {
    const fields = Object.fromEntries(this.#lines.map(([label, value]) => [label.toLowerCase(), value]))
    return { ...fields, queues: this.#queues }
  }
}
