// The keys that this worker has admitted: those its runs make room for, and those it hears of.
import { after } from '../clock.ts'
import { type Admitter, keysWithRoom } from '../governance/admitter.ts'
import type { WorkKey } from '../store/keyed-work.ts'
import type { Settlement } from '../store/settlements.ts'
import type { Lane } from './lane.ts'
import type { Run } from './run.ts'

const HEARD_SPREAD_MS = 10
/** Any role may name any keys. More than these at once are left to the sweep. */
const MAX_HEARD = 1_000

export interface KeyAdmissionServices {
  admitter: Admitter
  lanes: readonly Lane[]
  isStopping(): boolean
}

export class KeyAdmissions {
  readonly #services: KeyAdmissionServices
  #heard = 0

  constructor(services: KeyAdmissionServices) {
    this.#services = services
  }

  /** The next of its key may run, and later this one again. */
  makeRoom({ job }: Run, settlement: Settlement): void {
    const keys = keysWithRoom(job, settlement)
    if (keys.length === 0) return
    void this.#services.admitter.admit(keys)
    if (settlement.kind === 'requeue') this.#admitIn(settlement.delayMs ?? 0, keys)
  }

  /** All workers have heard of it: those that serve the queue, and not all at the same moment. */
  heardOf(key: WorkKey): void {
    if (!this.#services.lanes.some((lane) => lane.queues.some(({ name }) => name === key.queue))) return
    if (this.#heard >= MAX_HEARD) return
    this.#heard++
    this.#admitIn(Math.random() * HEARD_SPREAD_MS, [key], () => this.#heard--)
  }

  #admitIn(delayMs: number, keys: readonly WorkKey[], onDone: () => void = () => {}): void {
    const { admitter, isStopping } = this.#services
    after(delayMs, () => void (isStopping() || admitter.admit(keys).then(onDone)))
  }
}
