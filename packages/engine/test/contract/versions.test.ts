// Steps between the versions of a payload.
import fc from 'fast-check'
import { defineJob, defineQueues, NewerPayload, PayloadNotUpgraded } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type PayloadSteps, upgraded } from '#src/contract/versions'

const queues = defineQueues({ default: {} })
const job = (version: number, migrate?: PayloadSteps) =>
  defineJob({ type: 'ship', queue: queues.default, payload: z.unknown(), version, ...(migrate ? { migrate } : {}) })
const same = (payload: unknown) => payload

test.each<[string, number, PayloadSteps | undefined, RegExp]>([
  ['no step at all', 2, undefined, /no function migrate\[1\]/],
  ['a gap', 4, { 1: same, 3: same }, /no function migrate\[2\]/],
  ['the last step missing', 3, { 1: same }, /no function migrate\[2\]/],
  ['a step beyond the version', 2, { 1: same, 2: same }, /a step migrate\[2\].*versions 1 to 1/],
  ['a step from nowhere', 2, { 0: same, 1: same }, /a step migrate\[0\]/],
  ['a step that is no function', 2, { 1: 'rename' as never }, /no function migrate\[1\]/],
  ['half a version', 1.5, undefined, /version 1\.5: expected an integer/],
  ['version 0', 0, undefined, /version 0: expected an integer/],
])('%s is refused', (_, version, migrate, message) => {
  expect(() => job(version, migrate)).toThrow(message)
})

test('the first steps may be left out when their versions are history', () => {
  expect(() => job(4, { 3: same })).not.toThrow()
})

describe('a stored payload', () => {
  test('passes every step from its version on, in order, and no other', () => {
    const steps = fc.integer({ min: 1, max: 12 }).chain((version) =>
      fc.record({
        version: fc.constant(version),
        from: fc.integer({ min: 1, max: version }),
        payload: fc.jsonValue(),
      }),
    )
    fc.assert(
      fc.property(steps, ({ version, from, payload }) => {
        const migrate = Object.fromEntries(
          Array.from({ length: version - 1 }, (_, i) => [i + 1, (p: unknown) => ({ was: p, step: i + 1 })]),
        )
        let expected: unknown = payload
        for (let at = from; at < version; at++) expected = { was: expected, step: at }
        expect(upgraded(job(version, migrate), payload, from)).toEqual(expected)
      }),
    )
  })

  test('of a version whose step is gone, or whose step throws, says which and what to do', () => {
    expect(() => upgraded(job(3, { 2: same }), {}, 1)).toThrow(PayloadNotUpgraded)
    expect(() => upgraded(job(3, { 2: same }), {}, 1)).toThrow(/version 1.*no step migrate\[1\]\. Add the step/)
    const broken = job(2, { 1: (p) => p.order.id })
    expect(() => upgraded(broken, {}, 1)).toThrow(/step migrate\[1\] threw TypeError: .*Correct the step/)
  })

  test('of a newer version is told apart', () => {
    expect(() => upgraded(job(2, { 1: same }), {}, 3)).toThrow(NewerPayload)
  })
})
