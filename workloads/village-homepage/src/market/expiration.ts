// LISTING_EXPIRATION: reminds sellers seven days and one day before a listing ends, and ends it. Each batch is one transaction with
// its notices and their jobs, so a run that dies is made good by the next, and two runs send nothing twice.
import type { JobContext, Queryable } from 'millrace'
import { addNotices, inSubject } from '../mail/notice.ts'
import type { VillageParts } from '../village-parts.ts'
import { type DueListing, expireNext, remindNext } from './listing-store.ts'

export class ListingExpiration {
  readonly #parts: VillageParts

  constructor(parts: VillageParts) {
    this.#parts = parts
  }

  async run(
    { as_of }: { readonly as_of?: string | undefined },
    ctx: JobContext,
  ): Promise<{ expired: number; reminded: number }> {
    const asOf = as_of === undefined ? this.#parts.clock.now() : new Date(as_of)
    const reminded = await this.#all((tx) => remindNext(tx, asOf), ctx)
    const expired = await this.#all((tx) => expireNext(tx, asOf), ctx)
    return { expired, reminded }
  }

  async #all(next: (tx: Queryable) => Promise<DueListing[]>, ctx: JobContext): Promise<number> {
    const { database, contracts, client } = this.#parts
    for (let sum = 0; ; ) {
      ctx.signal.throwIfAborted()
      const count = await database.transaction(async (tx) => {
        const due = await next(tx)
        const ids = await addNotices(tx, due.map(noticeOf))
        await client.current.enqueueMany(
          contracts.MESSAGE_RELAY,
          ids.map((message_id) => ({ message_id })),
          { tx },
        )
        return due.length
      })
      if (count === 0) return sum
      sum += count
    }
  }
}

const WORDS: Readonly<Record<DueListing['kind'], (title: string) => string>> = {
  reminder_7d: (title) => `${title} is shown for seven more days`,
  reminder_1d: (title) => `${title} is shown for one more day`,
  expired: (title) => `${title} is no longer shown`,
}

const noticeOf = ({ kind, title, expiresAt, sellerId }: DueListing) => ({
  recipientId: sellerId,
  kind,
  subject: WORDS[kind](inSubject(title)),
  body:
    kind === 'expired'
      ? `Your listing "${title}" ended on ${dayOf(expiresAt)}. Neighbours no longer see it on the page of the village.\n`
      : `Your listing "${title}" ends on ${dayOf(expiresAt)}. Until then neighbours see it on the page of the village.\n`,
})

const dayOf = (at: Date): string =>
  at.toLocaleDateString('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'long', year: 'numeric' })
