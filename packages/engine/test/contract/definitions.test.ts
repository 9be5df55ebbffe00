import { createMillrace, defineJob, defineQueues, InvalidDefinition, implement, UnknownJobType } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toMs } from '#src/contract/duration'

const queues = defineQueues({ default: {} })
const payload = z.object({})
const define = (overrides: object) => () => defineJob({ type: 'a', queue: queues.default, payload, ...overrides })

describe('durations', () => {
  test.each([
    [250, 250],
    ['250ms', 250],
    ['30s', 30_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
  ] as const)('%s is %d ms', (duration, ms) => {
    expect(toMs(duration, 'it')).toBe(ms)
  })

  test.each(['', '5', 's', '5 weeks', '-1s', Number.NaN, -1, Number.POSITIVE_INFINITY])(
    '%j is refused, naming the option',
    (bad) => {
      expect(() => toMs(bad as never, 'the timeout')).toThrow(/the timeout is .* not a duration/)
    },
  )
})

describe('a queue', () => {
  test('has defaults', () => {
    expect(queues.default).toMatchObject({ name: 'default', priority: 5, concurrency: 10, pollIntervalMs: 1_000 })
  })

  test('has facts for people, and an sla whether it is critical or not', () => {
    const facts = {
      title: 'Platform feeds',
      owner: { name: 'Platform Services Guild', channel: 'slack', address: '#platform-feeds' },
      color: '#4488cc',
      use: 'feeds and their pictures',
      escalation: { channel: 'slack', respondWithin: '4h' },
    }
    const { feeds } = defineQueues({ feeds: { sla: '5m', ...facts } })
    expect(feeds).toMatchObject({ slaMs: 300_000, isCritical: false, facts })
    expect(queues.default.facts).toEqual({})
  })

  test.each([
    [{ '1st': {} }, /Queue name "1st"/],
    [{ a: { priority: -1 } }, /priority -1/],
    [{ a: { priority: 1.5 } }, /priority 1.5/],
    [{ a: { concurrency: 0 } }, /concurrency 0/],
    [{ a: { pollInterval: 'often' as never } }, /pollInterval is "often"/],
    [{ a: { sla: '1ms' } }, /sla of 1 ms: 100 ms is the least/],
    [{ a: { title: '' } }, /"a" has title "": expected one line of text of 1 to 100 characters/],
    [{ a: { use: 'two\nlines' } }, /has use "two\\nlines": expected one line/],
    [{ a: { color: 'not a color' } }, /has color "not a color": expected a CSS color name like 'salmon', or '#rrggbb'/],
    [{ a: { owner: 'ops' } }, /has owner "ops": expected { name, channel, address }/],
    [{ a: { owner: { channel: 'slack' } } }, /has owner .*: expected { name, channel, address }/],
    [{ a: { owner: { name: 'ops', chanel: 'slack' } } }, /has owner .*: expected { name, channel, address }/],
    [{ a: { owner: { name: 'ops', address: 7 } } }, /has owner.address 7: expected one line of text/],
    [{ a: { escalation: ['ops'] } }, /has escalation \["ops"\]: expected the name of a policy, or an object/],
    [{ a: { escalation: { at: () => {} } } }, /has an escalation that cannot be published, at at: /],
    [{ a: { escalation: { password: 'hunter2' } } }, /has an escalation that cannot be published, at password: /],
  ])('%j is refused', (definition, message) => {
    expect(() => defineQueues(definition as never)).toThrow(message)
  })
})

describe('a job', () => {
  test.each([
    [{ type: '' }, /Job type ""/],
    [{ type: 'with space' }, /Job type "with space"/],
    [{ timeout: 0 }, /timeout 0/],
    [{ retry: { attempts: 0 } }, /0 attempts/],
    [{ retry: { giveUpAfter: 'soon' } }, /giveUpAfter is "soon"/],
  ])('%j is refused', (overrides, message) => {
    expect(define(overrides)).toThrow(InvalidDefinition)
    expect(define(overrides)).toThrow(message)
  })

  test('takes timeout and retries from its queue unless it has its own', () => {
    const slow = defineQueues({ slow: { timeout: '20m', retry: { attempts: 3 } } }).slow
    const inherits = defineJob({ type: 'a', queue: slow, payload })
    const own = defineJob({ type: 'b', queue: slow, payload, timeout: '1m', retry: { attempts: 7 } })
    expect([inherits.timeoutMs, inherits.retry.attempts]).toEqual([1_200_000, 3])
    expect([own.timeoutMs, own.retry.attempts]).toEqual([60_000, 7])
  })
})

describe('a client', () => {
  const email = defineJob({ type: 'email', queue: queues.default, payload })
  const millrace = createMillrace({ database: 'postgres://127.0.0.1:1/none', jobs: [email] })

  test('refuses two contracts of one type', () => {
    const twin = defineJob({ type: 'email', queue: queues.default, payload })
    expect(() => createMillrace({ database: 'postgres://localhost/app', jobs: [email, twin] })).toThrow(
      /Two contracts have the type "email"/,
    )
  })

  test('refuses a type it does not know, and says which it may have been', async () => {
    const unlisted = defineJob({ type: 'emial', queue: queues.default, payload })
    const refused = expect(millrace.enqueue(unlisted, {})).rejects
    await refused.toBeInstanceOf(UnknownJobType)
    await refused.toThrow(/no job type "emial". Did you mean "email"\?/)
  })

  test('refuses to work without handlers, with two for one type, or with slots for an unknown queue', async () => {
    const handler = implement(email, () => undefined)
    await expect(millrace.work({ handlers: [] })).rejects.toThrow(/no handlers/)
    await expect(millrace.work({ handlers: [handler, handler] })).rejects.toThrow(/two handlers/)
    await expect(millrace.work({ handlers: [handler], concurrency: { fast: 3 } })).rejects.toThrow(/queue "fast"/)
  })
})
