// The rules of a breaker against a model that remembers everything and judges by its memory.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BreakerEvent, CLOSED, isProbe, mayProbe, nextBreaker } from '#src/governance/breaker-state'
import type { BreakerFacts, Probe } from '#src/store/breakers'

const start = Date.UTC(2026, 0, 1)
const at = (ms: number) => new Date(start + ms)
const settings = { failures: 3, openForMs: 1_000, successes: 2 }
const runs: Probe[] = ['1', '2', '3'].map((jobId) => ({ jobId, runId: `run-${jobId}` }))

interface Step {
  event: BreakerEvent
  /** Since the step before. */
  afterMs: number
}

/** What has happened since the breaker last changed its state, in words of its own. */
class Model {
  state: 'closed' | 'open' | 'half_open' = 'closed'
  told: ('good' | 'bad')[] = []
  opensAgainMs = 0
  probe: string | null | undefined

  take({ event }: Step, nowMs: number): void {
    if (event.kind === 'reset') this.become('closed')
    else if (event.kind === 'trip') {
      this.opensAgainMs = event.forMs === null ? Number.POSITIVE_INFINITY : nowMs + event.forMs
      this.become('open')
    } else if (event.kind === 'probe') this.offer(event, nowMs)
    else if (event.kind === 'end') {
      if (event.by.jobId === this.probe) this.probe = undefined
    } else this.hear(event, nowMs)
  }

  hear(event: BreakerEvent & { kind: 'success' | 'failure' }, nowMs: number): void {
    if (this.state === 'open' || (this.state === 'half_open' && event.by.jobId !== this.probe)) return
    this.told.push(event.kind === 'success' ? 'good' : 'bad')
    if (this.state === 'closed' ? this.ends('bad', settings.failures) : this.ends('bad', 1)) {
      this.opensAgainMs = nowMs + settings.openForMs
      this.become('open')
    } else if (this.state === 'half_open' && this.ends('good', settings.successes)) this.become('closed')
  }

  offer({ by, isProbeLive }: BreakerEvent & { kind: 'probe' }, nowMs: number): void {
    const isDue = this.state === 'open' && nowMs >= this.opensAgainMs
    if (!isDue && !(this.state === 'half_open' && !isProbeLive)) return
    if (isDue) this.become('half_open')
    this.probe = by.jobId
  }

  /** The last `count` things that were told. */
  ends(what: 'good' | 'bad', count: number): boolean {
    return this.told.length >= count && this.told.slice(-count).every((each) => each === what)
  }

  become(state: Model['state']): void {
    this.state = state
    this.told = []
    this.probe = undefined
  }
}

const run = fc.constantFrom(...runs)
const event: fc.Arbitrary<BreakerEvent> = fc.oneof(
  { weight: 6, arbitrary: run.map((by) => ({ kind: 'failure', by }) as const) },
  { weight: 3, arbitrary: run.map((by) => ({ kind: 'success', by }) as const) },
  {
    weight: 6,
    arbitrary: fc.tuple(run, fc.boolean()).map(([by, isProbeLive]) => ({ kind: 'probe', by, isProbeLive }) as const),
  },
  { weight: 1, arbitrary: run.map((by) => ({ kind: 'end', by }) as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reset' } as const) },
  { weight: 1, arbitrary: fc.constantFrom(null, 500).map((forMs) => ({ kind: 'trip', forMs }) as const) },
)
const steps = fc.array(fc.record({ event, afterMs: fc.constantFrom(0, 1, 499, 500, 999, 1_000, 5_000) }), {
  maxLength: 60,
})

function play(some: readonly Step[], see: (facts: BreakerFacts, model: Model, nowMs: number) => void): void {
  const model = new Model()
  let facts = CLOSED
  let nowMs = 0
  for (const step of some) {
    nowMs += step.afterMs
    facts = nextBreaker(at(nowMs), facts, step.event, settings)
    model.take(step, nowMs)
    see(facts, model, nowMs)
  }
}

describe('a breaker', () => {
  test('does what a model does that remembers everything', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(steps, (some) =>
        play(some, (facts, model, nowMs) => {
          seen.add(facts.state)
          expect(facts.state).toBe(model.state)
          expect(facts.probe?.jobId).toBe(model.probe)
          if (facts.state === 'open') {
            expect(facts.openUntil?.getTime() ?? Number.POSITIVE_INFINITY).toBe(
              model.opensAgainMs + (model.opensAgainMs === Number.POSITIVE_INFINITY ? 0 : start),
            )
            expect(mayProbe(at(nowMs), facts, false)).toBe(nowMs >= model.opensAgainMs)
          }
        }),
      ),
      { numRuns: 500 },
    )
    expect([...seen].sort()).toEqual(['closed', 'half_open', 'open'])
  })

  test('is the same object when nothing changes, so that nothing is written', () => {
    const by = runs[0] as Probe
    expect(nextBreaker(at(0), CLOSED, { kind: 'success', by }, settings)).toBe(CLOSED)
    expect(nextBreaker(at(0), CLOSED, { kind: 'reset' }, settings)).toBe(CLOSED)
    const open = nextBreaker(at(0), CLOSED, { kind: 'trip', forMs: null }, settings)
    expect(nextBreaker(at(9e9), open, { kind: 'failure', by }, settings)).toBe(open)
    expect(nextBreaker(at(9e9), open, { kind: 'probe', by, isProbeLive: false }, settings)).toBe(open)
  })

  test('takes what a person has written over it, whatever is left of earlier states', () => {
    const by = runs[0] as Probe
    const opened = nextBreaker(at(0), CLOSED, { kind: 'trip', forMs: 10 }, settings)
    const probed = nextBreaker(at(20), opened, { kind: 'probe', by, isProbeLive: false }, settings)
    expect(isProbe(probed, by)).toBe(true)
    // update circuit_breakers set state = 'closed', failure_count = 0, success_count = 0
    const reset: BreakerFacts = { ...probed, state: 'closed', failureCount: 0, successCount: 0 }
    expect(isProbe(reset, by)).toBe(false)
    expect(nextBreaker(at(21), reset, { kind: 'success', by }, settings)).toBe(reset)
    expect(nextBreaker(at(21), reset, { kind: 'failure', by }, settings)).toMatchObject({
      state: 'closed',
      failureCount: 1,
    })
  })
})
