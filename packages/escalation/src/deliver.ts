// The handler of the job that delivers: sends what waits for one channel, one message after another.
//
// There is at most one live job for a channel, so two processes never send to it at once. If the process dies during a send, the
// next run finds the rows under the key of that message and sends it again as it was.
import {
  type EscalationFacts,
  type EscalationOutbox,
  type JobContext,
  type Millrace,
  RetryAfter,
  type SendFailure,
  Unrecoverable,
} from 'millrace'
import { attributesFor } from './attributes.ts'
import { type Channel, type Message, SendFailed, type Transports } from './channel.ts'
import { faultsOf, newsOf } from './fault.ts'
import type { Links } from './links.ts'
import type { Mailer } from './mailer.ts'

export interface DeliveryServices {
  readonly millrace: Millrace
  readonly channels: Readonly<Record<string, Channel>>
  readonly fetch: Transports['fetch']
  readonly mailer: Mailer
  readonly links: Links
}

const ROWS_AT_ONCE = 5_000
/** Then it makes room for other jobs; the dispatcher sees that more waits. */
const MESSAGES_AT_ONCE = 100

export async function deliver(
  services: DeliveryServices,
  name: string,
  ctx: JobContext,
): Promise<{ messages: number }> {
  const channel = services.channels[name]
  if (channel === undefined) throw new Unrecoverable(`There is no channel "${name}" any more.`)
  let messages = 0
  while (messages < MESSAGES_AT_ONCE && !ctx.signal.aborted && (await sendNext(services, { name, channel }, ctx))) {
    messages++
    await pause(channel.spacingMs, ctx.signal)
  }
  return { messages }
}

interface Named {
  name: string
  channel: Channel
}

/** False: nothing waits. */
async function sendNext(services: DeliveryServices, { name, channel }: Named, ctx: JobContext): Promise<boolean> {
  const { millrace, links, fetch, mailer } = services
  const { outbox } = millrace.escalations
  const at = outbox.now()
  const messageKey = await digestKey(services, { name, channel }, at)
  if (messageKey === 'sent before') return false
  const { isPerFault: oneKey, grows } = channel
  const rows = await outbox.take(name, { limit: ROWS_AT_ONCE, oneKey, grows, ...(messageKey && { messageKey }) })
  const untold = channel.tells.length === 0 ? [] : await outbox.news(name)
  const attributesOf = await attributesFor(millrace, [...rows, ...untold])
  const news = newsOf(untold, attributesOf).filter(({ becomes }) => channel.tells.includes(becomes))
  if (rows.length === 0 && news.length === 0) {
    if (untold.length > 0) await outbox.told(name, untold)
    return false
  }
  const key =
    rows[0]?.messageKey ??
    `millrace-news-${untold
      .map(({ id }) => id)
      .join('-')
      .slice(0, 100)}`
  const message: Message = {
    ...{ key, news, links, at },
    faults: faultsOf(rows, attributesOf),
    isRepeat: rows.some(({ repeats }) => repeats > 0),
  }
  await channel
    .send(message, { fetch, mailer, signal: ctx.signal })
    .catch((error: unknown) => failed(outbox, rows, error))
  await outbox.sent(rows.map(({ id }) => id))
  if (untold.length > 0) await outbox.told(name, untold)
  ctx.log.info(
    { channel: name, message: key, escalations: rows.length, news: news.length },
    'escalations were delivered',
  )
  return true
}

/** Of a digest: one key for a day, so that a second one on that day cannot be. */
async function digestKey(
  { millrace }: DeliveryServices,
  { name, channel }: Named,
  at: Date,
): Promise<string | undefined> {
  if (channel.digest === undefined) return undefined
  const messageKey = `millrace-digest-${name}-${channel.digest.last(at).toISOString().slice(0, 16)}`
  const wasSent = await millrace.escalations.outbox.postpone(name, { messageKey, until: channel.digest.next(at) })
  return wasSent ? 'sent before' : messageKey
}

/** Notes why, and lets the job try again, or not. */
async function failed(outbox: EscalationOutbox, rows: readonly EscalationFacts[], error: unknown): Promise<never> {
  const outcome: SendFailure = error instanceof SendFailed ? error.outcome : 'unknown'
  const message = error instanceof Error ? error.message : String(error)
  await outbox.unsent(
    rows.map(({ id }) => id),
    { error: message.slice(0, 500), outcome },
  )
  if (outcome === 'refused') throw new Unrecoverable(message)
  if (error instanceof SendFailed && error.retryAfterMs !== undefined) throw new RetryAfter(error.retryAfterMs, message)
  throw error
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}
