// The handler of the job that delivers: sends what waits for one channel, one message after another.
//
// There is at most one live job for a channel, so two processes never send to it at once. If the process dies during a send, the
// next run finds the rows under the key of that message and sends it again as it was.
import { createHash } from 'node:crypto'
import {
  type EscalationFacts,
  type EscalationNews,
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

const ROWS_AT_ONCE = 10_000
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
async function sendNext(services: DeliveryServices, named: Named, ctx: JobContext): Promise<boolean> {
  const { millrace, links, fetch, mailer } = services
  const { outbox } = millrace.escalations
  const { name, channel } = named
  const at = outbox.now()
  const rows =
    channel.digest === undefined ? await waiting(services, named) : await waitingForDigest(services, named, at)
  const untold = channel.tells.length === 0 ? [] : await outbox.news(name)
  const isRepeat = rows.some(({ repeats }) => repeats > 0)
  const told = newsFor(channel, untold, { hasFaults: rows.length > 0, isRepeat })
  const done = [...untold.filter(({ becomes }) => !channel.tells.includes(becomes)), ...told]
  const attributesOf = await attributesFor(millrace, [...rows, ...told])
  const news = newsOf(told, attributesOf)
  const hasMessage = rows.length > 0 || news.length > 0
  const key = rows[0]?.messageKey ?? newsKey(told)
  if (hasMessage) {
    const message: Message = { ...{ key, isRepeat, news, links, at }, faults: faultsOf(rows, attributesOf) }
    const sending = channel.send(message, { fetch, mailer, signal: ctx.signal })
    await sending.catch(async (error: unknown) => {
      // What a channel refuses it would refuse again, and the faults that the news are about stay in the list.
      if (rows.length === 0 && outcomeOf(error) === 'refused') await outbox.told(name, told)
      return failed(outbox, rows, error)
    })
    const isFinal = channel.tells.length === 0
    await outbox.sent(
      rows.map(({ id }) => id),
      { isFinal },
    )
    const counts = { escalations: rows.length, news: news.length }
    ctx.log.info({ channel: name, message: key, ...counts }, 'escalations were delivered')
  }
  if (done.length > 0) await outbox.told(name, done)
  return hasMessage
}

function waiting({ millrace }: DeliveryServices, { name, channel }: Named): Promise<EscalationFacts[]> {
  const { isPerFault: oneKey, grows } = channel
  return millrace.escalations.outbox.take(name, { limit: ROWS_AT_ONCE, oneKey, grows })
}

/** A day has one key, so that a second digest on that day cannot be. A test of the channel is a mail of its own, at once. */
async function waitingForDigest({ millrace }: DeliveryServices, named: Named, at: Date): Promise<EscalationFacts[]> {
  const { outbox } = millrace.escalations
  const { name, channel } = named
  const { next, last } = channel.digest as NonNullable<Channel['digest']>
  const how = { limit: ROWS_AT_ONCE, oneKey: false, grows: false }
  const tests = await outbox.take(name, { ...how, tests: true })
  if (tests.length > 0) return tests
  const messageKey = `millrace-digest-${name}-${last(at).toISOString().slice(0, 16)}`
  const wasSent = await outbox.postpone(name, { messageKey, until: next(at) })
  return wasSent ? [] : outbox.take(name, { ...how, tests: false, messageKey })
}

/**
 * What to tell with this message. A repeat is sent as it was, because the receiver may drop it as one. A channel that takes one
 * fault at a time gets its faults first, then one piece of news at a time.
 */
function newsFor(
  { tells, isPerFault }: Channel,
  untold: readonly EscalationNews[],
  { hasFaults, isRepeat }: { hasFaults: boolean; isRepeat: boolean },
): readonly EscalationNews[] {
  const wanted = untold.filter(({ becomes }) => tells.includes(becomes))
  if (isRepeat || (isPerFault && hasFaults)) return []
  return isPerFault ? wanted.slice(0, 1) : wanted
}

/** Another one for other news: a receiver drops a key that it knows. */
function newsKey(told: readonly Pick<EscalationNews, 'id' | 'becomes'>[]): string {
  const what = told.map(({ id, becomes }) => `${id}:${becomes}`).join(' ')
  return `millrace-news-${createHash('sha256').update(what).digest('hex').slice(0, 32)}`
}

const outcomeOf = (error: unknown): SendFailure => (error instanceof SendFailed ? error.outcome : 'unknown')

/** Notes why, and lets the job try again, or not. */
async function failed(outbox: EscalationOutbox, rows: readonly EscalationFacts[], error: unknown): Promise<never> {
  const outcome = outcomeOf(error)
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
