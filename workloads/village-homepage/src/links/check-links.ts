// LINK_HEALTH_CHECK: jobs for the links that are due, by host; or a look at some links. Broken ones are looked at again after a
// day, and once more: three times in a row, and a link is dead.
import { setTimeout as sleep } from 'node:timers/promises'
import type { JobContext, PayloadOutput } from 'millrace'
import type { VillageContracts } from '../contracts.ts'
import type { VillageParts } from '../village-parts.ts'
import { type Checked, checkLink } from './check-link.ts'
import { addOwnLinks, type KeptLink, keepChecks, type Link, linksForCheck, linksOf } from './link-store.ts'

/** Each may take two requests of 10 s, 1 s apart, and a job has ten minutes. */
const LINKS_OF_A_JOB = 25
const ROUNDS = 3

type Payload = PayloadOutput<VillageContracts['LINK_HEALTH_CHECK']>
type Result =
  | { due: number; enqueued: number; duplicate: number }
  | { checked: number; ok: number; moved: number; broken: number; dead: number }

export class LinkHealthCheck {
  readonly #parts: VillageParts

  constructor(parts: VillageParts) {
    this.#parts = parts
  }

  async run({ link_ids: ids, host, round = 1 }: Payload, ctx: JobContext): Promise<Result> {
    if (ids === undefined) return this.#fanOut()
    const checks = await this.#check(await linksOf(this.#parts.database, ids), ctx)
    return ctx.transaction(async (tx) => {
      const kept = await keepChecks(tx, checks, { now: this.#parts.clock.now(), deadAfter: ROUNDS })
      const broken = idsOf(kept, 'broken')
      if (broken.length > 0 && round < ROUNDS) {
        const again = { link_ids: broken, ...(host !== undefined && { host }), round: round + 1 }
        await ctx.enqueue(this.#parts.contracts.LINK_HEALTH_CHECK, again, { tx, delay: '24h' })
      }
      return {
        checked: kept.length,
        ok: idsOf(kept, 'ok').length,
        moved: idsOf(kept, 'moved').length,
        broken: broken.length,
        dead: idsOf(kept, 'dead').length,
      }
    })
  }

  async #fanOut(): Promise<Result> {
    const { database, contracts, client, clock } = this.#parts
    await addOwnLinks(database)
    const due = await linksForCheck(database, clock.now())
    if (due.length === 0) return { due: 0, enqueued: 0, duplicate: 0 }
    const results = await client.current.enqueueMany(contracts.LINK_HEALTH_CHECK, payloadsFor(due))
    const duplicate = results.filter(({ status }) => status === 'duplicate').length
    return { due: due.length, enqueued: results.length - duplicate, duplicate }
  }

  /** One request after the other: a small site notices ten at once. */
  async #check(links: readonly Link[], ctx: JobContext): Promise<(Checked & { id: string })[]> {
    const { outside, config } = this.#parts
    const { timeout, requestInterval } = config.links
    const intervalMs = requestInterval * 1_000
    const call = { outside, signal: ctx.signal, timeoutMs: timeout * 1_000, intervalMs }
    const checks: (Checked & { id: string })[] = []
    for (const [i, { id, url }] of links.entries()) {
      if (i > 0) await sleep(intervalMs, undefined, { signal: ctx.signal })
      checks.push({ id, ...(await checkLink(url, call)) })
      ctx.progress(checks.length, links.length)
    }
    return checks
  }
}

const idsOf = (kept: readonly KeptLink[], state: KeptLink['state']): string[] =>
  kept.flatMap((link) => (link.state === state ? link.id : []))

/** Links of one host in one job, so that `keyLimit` keeps two jobs from asking it at once. */
function payloadsFor(due: readonly Link[]): Payload[] {
  const byHost = new Map<string | undefined, string[]>()
  for (const { id, url } of due) {
    const host = URL.canParse(url) ? new URL(url).host || undefined : undefined
    const ids = byHost.get(host) ?? []
    if (ids.length === 0) byHost.set(host, ids)
    ids.push(id)
  }
  return [...byHost].flatMap(([host, ids]) =>
    Array.from({ length: Math.ceil(ids.length / LINKS_OF_A_JOB) }, (_, i) => ({
      link_ids: ids.slice(i * LINKS_OF_A_JOB, (i + 1) * LINKS_OF_A_JOB),
      ...(host !== undefined && { host }),
    })),
  )
}
