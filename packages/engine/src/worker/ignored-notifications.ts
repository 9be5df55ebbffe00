import { monotonicMs } from '../clock.ts'
import type { Events } from '../events.ts'
import type { Logger } from '../logger.ts'
import type { IgnoredBecause } from './pulse-protocol.ts'

/** Any role can make us ignore messages: it must not fill the log with that. */
const LOG_EVERY_MS = 60_000

const REMARKS: Record<IgnoredBecause, string> = {
  unreadable: 'notifications were ignored that no worker can read: another program or a newer version sends them',
  flood: 'a flood of notifications was cut off: this worker does not listen for a minute, and polls',
}

/** Counts the notifications that a worker ignores, and tells of them. */
export class IgnoredNotifications {
  readonly #services: { events: Events; logger: Logger }
  readonly #logAtMs: Record<IgnoredBecause, number> = { unreadable: 0, flood: 0 }
  #total = 0

  constructor(services: { events: Events; logger: Logger }) {
    this.#services = services
  }

  report(count: number, why: IgnoredBecause): void {
    const { events, logger } = this.#services
    this.#total += count
    events.emit('notifications_ignored', { count, total: this.#total, why })
    if (monotonicMs() < this.#logAtMs[why]) return
    this.#logAtMs[why] = monotonicMs() + LOG_EVERY_MS
    logger.warn({ count, total: this.#total }, REMARKS[why])
  }
}
