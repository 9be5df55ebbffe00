import type { LaneDescription, Worker } from 'millrace'
import { counted } from './worker-process.ts'
import type { Workload } from './workload.ts'

/** What is running: an aligned block for the terminal, an object for `GET /` and the log. */
export class Summary {
  readonly #lines: [label: string, value: string, kind?: 'secret'][] = []
  #lanes: readonly Omit<LaneDescription, 'running'>[] = []

  add(label: string, value: string): void {
    this.#lines.push([label, value])
  }

  addWorker({ id, lanes }: Pick<Worker, 'id' | 'lanes'>): void {
    this.#lanes = lanes.map(({ running: _, ...lane }) => lane)
    this.add('Worker', id)
    this.add('Lanes', lanes.map(laneText).join(', '))
  }

  /** The admin, and what the workload serves for people. */
  addPages(url: string, { pages = [] }: Pick<Workload, 'pages'> = {}): void {
    this.add('Admin', `${url}/admin/`)
    for (const { title, path } of pages) if (title !== undefined) this.add(title, `${url}${path}`)
  }

  /** For the terminal alone: the health endpoint must not tell it. */
  addSecret(label: string, value: string): void {
    this.#lines.push([label, value, 'secret'])
  }

  /** `next`: what a reader may do now. */
  asText(next = ''): string {
    const width = Math.max(...this.#lines.map(([label]) => label.length))
    const lines = this.#lines.map(([label, value]) => `  ${label.padEnd(width)}  ${value}\n`)
    return `\nMillrace is running.\n\n${lines.join('')}\n${next}Ctrl-C to stop.\n\n`
  }

  asObject(): Record<string, unknown> {
    const open = this.#lines.filter(([, , kind]) => kind !== 'secret')
    const fields = Object.fromEntries(open.map(([label, value]) => [label.toLowerCase(), value]))
    return { ...fields, lanes: this.#lanes }
  }
}

/** "mail (10 slots)", or with the queues it serves where they are not its name. */
function laneText({ name, slots, queues }: LaneDescription): string {
  const serves = queues.length === 1 && queues[0] === name ? '' : ` for ${queues.join(', ')}`
  return `${name} (${counted(slots, 'slot')}${serves})`
}
