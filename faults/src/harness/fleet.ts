// `millrace work --processes`: a supervisor and its worker processes, watched through the log that all of them write.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Child } from './child.ts'
import { until } from './until.ts'

export const MILLRACE = '../../../packages/cli/bin/millrace.js'
const WORKLOAD = fileURLToPath(new URL('./workload.js', import.meta.url))
const ROLL_DEADLINE_MS = 60_000

export interface FleetWishes {
  label: string
  processes: number
  slots: number
  graceMs: number
}

export function fleetArgs({ processes, slots, graceMs }: FleetWishes): string[] {
  const options = { processes, concurrency: `work=${slots}`, grace: `${graceMs}ms` }
  return ['work', WORKLOAD, ...Object.entries(options).map(([name, value]) => `--${name}=${value}`)]
}

/** Under which a worker process of a fleet writes the history. */
export const labelOf = (pid: number): string => `pid-${pid}`

/** A line of the supervisor about one of its processes. */
export interface ProcessLine {
  event: string
  at: number
  process: number
  processPid: number
  code: number | null
}

export class Fleet {
  readonly child: Child
  readonly #logFile: string

  constructor(child: Child, logFile: string) {
    this.child = child
    this.#logFile = logFile
  }

  events(name: string): ProcessLine[] {
    const lines = readFileSync(this.#logFile, 'utf8').split('\n').slice(0, -1)
    return lines
      .filter((line) => line.startsWith('{') && line.includes(`"event":"${name}"`))
      .map((line) => JSON.parse(line) as ProcessLine & { time: string })
      .map((line) => ({ ...line, at: Date.parse(line.time) }))
  }

  /** The processes that are at work now. */
  pids(): number[] {
    const ended = [...this.events('process_died'), ...this.events('process_stopped')].map((line) => line.processPid)
    const latest = new Map(this.events('process_ready').map(({ process, processPid }) => [process, processPid]))
    return [...latest.values()].filter((pid) => !ended.includes(pid))
  }

  /** SIGHUP, and wait until every process was replaced. */
  async roll(): Promise<void> {
    const known = this.events('rolling_restart_ended').length
    this.child.signal('SIGHUP')
    await until('rolling restart ended', ROLL_DEADLINE_MS, () => this.events('rolling_restart_ended').length > known)
  }

  /** How long each process that was replaced took to leave, from when its successor was ready. */
  leaveTimes(): number[] {
    const ready = this.events('process_ready')
    return this.events('process_stopped').flatMap(({ process, processPid, at }) => {
      const ofPlace = ready.filter((line) => line.process === process)
      const successor = ofPlace[ofPlace.findIndex((line) => line.processPid === processPid) + 1]
      return successor === undefined ? [] : [at - successor.at]
    })
  }
}
