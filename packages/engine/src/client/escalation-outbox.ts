// The outbox as the deliverer sees it: give rows a channel, take those of a message, note what became of it.
import type { Clock } from '../clock.ts'
import type { Database } from '../store/db.ts'
import {
  type DueChannel,
  type EscalationFacts,
  type EscalationNews,
  type EscalationRoute,
  escalationDue,
  escalationNews,
  escalationPostpone,
  escalationRoute,
  escalationSent,
  escalationSettled,
  escalationTake,
  escalationTold,
  escalationUnrouted,
  escalationUnsent,
  type SendFailure,
  type SettledPage,
  type TakeOptions,
  type UnroutedEscalation,
} from '../store/escalations.ts'

const PAGE = 500

export class EscalationOutbox {
  readonly #db: Database
  readonly #clock: Clock

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Now, by the client's clock. */
  now(): Date {
    return this.#clock.databaseNow() ?? new Date()
  }

  /** Escalations that have no channel yet, oldest first. */
  unrouted(): Promise<UnroutedEscalation[]> {
    return escalationUnrouted(this.#db, PAGE)
  }

  route(routes: readonly EscalationRoute[]): Promise<void> {
    return escalationRoute(this.#db, this.#clock.databaseNow(), routes)
  }

  /** Channels for which something waits. */
  due(): Promise<DueChannel[]> {
    return escalationDue(this.#db, this.#clock.databaseNow())
  }

  /** The escalations of the next message of a channel. A message that may have arrived comes first, as it was. */
  take(channel: string, options: TakeOptions): Promise<EscalationFacts[]> {
    return this.#db.transaction((tx) => escalationTake(tx, this.#clock.databaseNow(), channel, options))
  }

  /** `isFinal`: the channel is told nothing more about them. */
  sent(ids: readonly string[], options: { isFinal?: boolean } = {}): Promise<void> {
    return escalationSent(this.#db, ids, options)
  }

  unsent(ids: readonly string[], failure: { error: string; outcome: SendFailure }): Promise<void> {
    return escalationUnsent(this.#db, ids, failure)
  }

  /** What became of faults of which the channel was told. */
  news(channel: string): Promise<EscalationNews[]> {
    return escalationNews(this.#db, channel, PAGE)
  }

  told(channel: string, news: readonly Pick<EscalationNews, 'key' | 'becomes'>[]): Promise<void> {
    return escalationTold(this.#db, channel, news)
  }

  /** True: that message was sent before, and what waits for the channel is due later. */
  postpone(channel: string, message: { messageKey: string; until: Date }): Promise<boolean> {
    return escalationPostpone(this.#db, channel, message)
  }

  /** Resolves dead jobs about which it was decided, a page of them after that id. */
  settle(after: string): Promise<SettledPage> {
    return escalationSettled(this.#db, this.#clock.databaseNow(), { after, limit: PAGE })
  }
}
