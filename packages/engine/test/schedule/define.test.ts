import { defineJob, defineQueues, defineSchedule, every, type Schedule, skip } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const queues = defineQueues({ main: {}, tenants: { tenant: 'required' } })
const payload = z.object({ n: z.number() })
const plain = defineJob({ type: 'plain', queue: queues.main, payload })
const ofTenant = defineJob({ type: 'of-tenant', queue: queues.tenants, payload })
const derived = defineJob({ type: 'derived', queue: queues.tenants, payload, tenant: ({ n }) => `t${n}` })
const deduped = defineJob({ type: 'deduped', queue: queues.main, payload, dedupe: { key: () => 'k' } })
const latest = defineJob({ type: 'latest', queue: queues.main, payload, dedupe: { key: () => 'k', mode: 'latest' } })
const ordered = defineJob({ type: 'ordered', queue: queues.main, payload, order: { key: () => 'k' } })
const base = { name: 's', job: plain, when: every('1h'), payload: { n: 1 } }

test('its payload fits the contract, or it does not compile', () => {
  const good: Schedule[] = [
    defineSchedule(base),
    defineSchedule({ ...base, payload: () => ({ n: 1 }) }),
    defineSchedule({ ...base, payload: async ({ tenant }) => (tenant === null ? skip('no tenant') : { n: 1 }) }),
    defineSchedule({ ...base, job: derived }),
    defineSchedule({ ...base, job: ofTenant, tenant: 'acme' }),
    defineSchedule({ ...base, job: ofTenant, perTenant: true }),
  ]
  expect(good).toHaveLength(6)
  defineSchedule({ ...base, perTenant: true, payload: ({ tenant }) => ({ n: tenant.length }) })
  // @ts-expect-error without perTenant there may be no tenant
  defineSchedule({ ...base, payload: ({ tenant }) => ({ n: tenant.length }) })
  // @ts-expect-error a payload of another shape
  defineSchedule({ ...base, payload: { n: 'one' } })
  // @ts-expect-error a function of another shape
  defineSchedule({ ...base, payload: async () => ({ m: 1 }) })
  // @ts-expect-error the queue demands a tenant
  expect(() => defineSchedule({ ...base, job: ofTenant })).toThrow(/demands a tenant/)
})

describe('what cannot work is refused when it is declared', () => {
  test.each([
    [{ name: 'a b' }, /name "a b" is not usable/],
    [{ payload: undefined }, /has no payload/],
    [{ overlaps: 'skip' }, /unknown option overlaps. Did you mean "overlap"/],
    [{ missed: 'twice' }, /missed "twice": expected one of skip, once, all/],
    [{ overlap: 'quue' }, /overlap "quue".*Did you mean "queue"/],
    [{ jitter: 'long' }, /jitter is "long", which is not a duration/],
    [{ priority: -1 }, /priority -1/],
    [{ tenant: 'a', perTenant: true }, /both tenant and perTenant/],
    [{ job: deduped, overlap: 'skip' }, /a dedupe key of its own/],
    [{ job: ordered, overlap: 'queue' }, /an order or limit key of its own/],
    [{ job: latest, overlap: 'queue' }, /dedupe mode 'latest' of its own/],
  ])('%o', (part, message) => {
    expect(() => defineSchedule({ ...base, ...part } as never)).toThrow(message)
  })
})
