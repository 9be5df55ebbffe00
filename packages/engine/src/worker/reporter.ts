// What a worker says about itself with its heartbeat, for `millrace workers`, for explanations and for health.
import { monotonicMs } from '../clock.ts'
import type { Governor } from '../governance/governor.ts'
import type { StoredReport } from '../store/worker-reports.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Lane } from './lane.ts'
import type { MemoryGuard } from './memory-guard.ts'
import type { Run } from './run.ts'

/** The event loop and the age of the report are measured where the report passes by. */
export type OwnReport = Omit<StoredReport, 'loopLagMs' | 'ageMs'>

/** The row is written with every heartbeat, so it stays small. */
const MAX_RUNS = 10
const MAX_PERMITS = 20

export interface ReporterServices {
  lanes: readonly Lane[]
  dispatcher: Dispatcher
  governor: Governor
  memory: MemoryGuard
  state(): OwnReport['state']
  isListening(): boolean
}

export class Reporter {
  readonly #services: ReporterServices

  constructor(services: ReporterServices) {
    this.#services = services
  }

  read(): OwnReport {
    const { lanes, dispatcher, governor, memory, state, isListening } = this.#services
    const started = [...dispatcher.runs].filter(isUnderWay)
    return {
      state: state(),
      lanes: lanes.map(shownLane),
      running: lanes.reduce((sum, lane) => sum + lane.running, 0),
      runs: longest(started).map(shownRun),
      suspectJobId: started.find((run) => run.isSuspect)?.job.id ?? null,
      memory: memory.use(),
      isListening: isListening(),
      permits: governor.permitsHere().slice(0, MAX_PERMITS),
    }
  }
}

const isUnderWay = (run: Run): boolean => run.startedAtMs > 0 && !run.isSettling

const shownLane = ({ name, slots, running, buffer, queues }: Lane): OwnReport['lanes'][number] => ({
  name,
  slots,
  running,
  buffered: buffer.length,
  queues: queues.map((queue) => queue.name),
})

function longest(runs: Run[]): Run[] {
  return runs.sort((a, b) => a.startedAtMs - b.startedAtMs).slice(0, MAX_RUNS)
}

const shownRun = ({ job, startedAtMs }: Run): OwnReport['runs'][number] => ({
  jobId: job.id,
  type: job.type,
  forMs: Math.round(monotonicMs() - startedAtMs),
})
