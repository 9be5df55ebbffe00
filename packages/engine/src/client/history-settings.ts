// What people decide about the history of types.
import type { Clock } from '../clock.ts'
import { alterHistory } from '../governance/history.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import { type HistorySetting, historyList, historySet } from '../store/history.ts'
import { author, label } from './enqueue-options.ts'

export class HistorySettings {
  readonly #services: { db: Database; clock: Clock }

  constructor(services: { db: Database; clock: Clock }) {
    this.#services = services
  }

  /** Every type about which somebody has decided, or that a worker has declared. */
  list(): Promise<HistorySetting[]> {
    return historyList(this.#services.db)
  }

  /** From now on, whatever the contract says. Throws HistoryRefused when this role may not create triggers. */
  on(type: string, options: { by: string }): Promise<void> {
    return this.#set(type, true, options)
  }

  /** Nothing more is kept, whatever the contract says; what was kept stays for its time. */
  off(type: string, options: { by: string }): Promise<void> {
    return this.#set(type, false, options)
  }

  async #set(type: string, isOn: boolean, { by }: { by: string }): Promise<void> {
    const setting = { type: label(type, 'type') as string, isOn, setBy: author(by) }
    const now = this.#services.clock.databaseNow()
    await alterHistory(this.#services, async (tx) => {
      await historySet(tx, now, setting)
      await auditWrite(tx, now, { by: setting.setBy, action: isOn ? 'history.on' : 'history.off', target: type })
    })
  }
}
