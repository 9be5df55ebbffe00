// How a queue is doing, and why: pure, from one reading of the vitals.
import type { Answer } from '../../data/queries.ts'
import type { Tone } from '../../ui/tone.ts'

export type Vitals = Answer<'health', 'vitals'>
export type QueueVitals = Vitals['queues'][number]

export type Cause =
  | { readonly kind: 'paused'; readonly by: string; readonly reason: string }
  | { readonly kind: 'unserved' }
  | { readonly kind: 'breaker'; readonly service: string }
  | { readonly kind: 'slots'; readonly slots: number }
  | { readonly kind: 'tenant'; readonly tenant: string; readonly limit: number }
  | null

export interface QueueState {
  readonly vitals: QueueVitals
  readonly state: 'on time' | 'late' | 'unserved' | 'paused' | 'idle'
  readonly tone: Tone
  readonly cause: Cause
  /** Of all lanes that serve it. */
  readonly slots: number
}

/** Without an SLA an hour is late, as for the health check. */
const PATIENCE_MS = 3_600_000
/** A worker that starts gets so much time before a queue counts as served by nobody. */
const UNSERVED_MS = 60_000
/** Of Millrace itself: shown only if something is wrong with it. */
const isSystem = (queue: string) => queue === 'millrace' || queue.startsWith('millrace.')

/** In the order of their priorities, so that each keeps its place. */
export function queueStates(vitals: Vitals, priorities: ReadonlyMap<string, number>): QueueState[] {
  const rank = ({ queue }: QueueVitals) => priorities.get(queue) ?? Number.MAX_SAFE_INTEGER
  return [...vitals.queues]
    .sort((a, b) => rank(a) - rank(b) || a.queue.localeCompare(b.queue))
    .map((queue) => stateOf(queue, vitals))
    .filter(({ vitals: { queue }, state }) => !isSystem(queue) || state === 'late' || state === 'unserved')
}

function stateOf(queue: QueueVitals, vitals: Vitals): QueueState {
  const lanes = vitals.lanes.filter(({ queues }) => queues.includes(queue.queue))
  const slots = lanes.reduce((sum, lane) => sum + lane.slots, 0)
  const cause = causeOf(queue, vitals, slots)
  const isLate = Math.max(queue.oldestDueMs ?? 0, queue.latencyP95Ms ?? 0) > (queue.slaMs ?? PATIENCE_MS)
  const isWaiting = queue.due > 0
  if (cause?.kind === 'unserved') return { vitals: queue, state: 'unserved', tone: 'fail', cause, slots }
  if (cause?.kind === 'paused') return { vitals: queue, state: 'paused', tone: 'late', cause, slots }
  if (isLate && isWaiting) return { vitals: queue, state: 'late', tone: 'late', cause, slots }
  const isIdle = queue.waiting + queue.running === 0
  return { vitals: queue, state: isIdle ? 'idle' : 'on time', tone: isIdle ? 'off' : 'ok', cause: null, slots }
}

function causeOf(queue: QueueVitals, vitals: Vitals, slots: number): Cause {
  const pause = queue.pauses[0]
  if (pause) return { kind: 'paused', by: pause.by, reason: pause.reason }
  const isKnown = vitals.workers.every(({ state }) => state !== null)
  if (queue.due > 0 && slots === 0 && isKnown && (queue.oldestDueMs ?? 0) > UNSERVED_MS) return { kind: 'unserved' }
  const breaker = vitals.breakers.find(({ state, queues }) => state === 'open' && queues.includes(queue.queue))
  if (breaker) return { kind: 'breaker', service: breaker.service }
  const lanes = vitals.lanes.filter(({ queues }) => queues.includes(queue.queue))
  if (slots > 0 && lanes.every(({ running, slots: of }) => running >= of)) return { kind: 'slots', slots }
  const tenant = vitals.tenants.find((each) => each.queue === queue.queue)
  return tenant ? { kind: 'tenant', tenant: tenant.tenant, limit: tenant.limit } : null
}

/** Of a sentence: "because its breaker email-service is open". */
export function becauseOf(cause: Cause): string {
  switch (cause?.kind) {
    case 'paused':
      return `because ${cause.by} paused it`
    case 'unserved':
      return 'because no worker serves it'
    case 'breaker':
      return `because its breaker ${cause.service} is open`
    case 'slots':
      return `because all ${cause.slots} slots are busy`
    case 'tenant':
      return `while ${cause.tenant} has all ${cause.limit} jobs that it may have`
    default:
      return ''
  }
}

/** How long until the due jobs have started, if as many end as in the last minutes and none come; null: nobody can know. */
export function drainMs(due: number, perMinute: number): number | null {
  return due === 0 || perMinute <= 0 ? null : (due / perMinute) * 60_000
}
