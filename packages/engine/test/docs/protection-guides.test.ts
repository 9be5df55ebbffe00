// The examples of the guides to payload versions and to sensitive data.
import { type EraseResult, type Implementation, implement, type JobContract, type Millrace } from 'millrace'
import { drain } from 'millrace/testing'
import type pg from 'pg'
import { expect, test } from 'vitest'
import { examplesOf } from '../support/guide.ts'
import { ringOf } from '../support/keys.ts'
import { setup } from '../support/setup.ts'

test('payload versions: the steps lead to what the schema takes, and the queries run', async () => {
  await using guide = await examplesOf('payload-versions.md')
  expect(await guide.complaints()).toBe('')
  const { ship } = await guide.load<{ ship: JobContract }>('contracts.ts')
  const { checkSteps } = await guide.load<{ checkSteps(): Promise<string> }>('check.ts')
  expect(JSON.parse(await checkSteps())).toEqual({ orderId: '7', parcels: [{ grams: 500 }] })

  await using t = await setup()
  const millrace = t.client([ship])
  await millrace.enqueueByType('order.ship', { orderId: '7', parcels: [] })
  await t.sql(`update millrace.job set payload_version = 1, payload = '{"order": 8, "grams": 20}'`)
  for (const text of guide.sql) await t.sql(text)
  const seen: unknown[] = []
  await drain(millrace, [implement(ship, (payload) => void seen.push(payload))])
  expect(seen).toEqual([{ orderId: '8', parcels: [{ grams: 20 }] }])
})

test('sensitive data: the program sees the result, the database and people do not, and it can be erased', async () => {
  await using guide = await examplesOf('sensitive-data.md')
  expect(await guide.complaints()).toBe('')
  await using t = await setup()
  const { connect } = await guide.load<{ connect(url: string, env: object): Millrace }>('client.ts')
  const { handler, demonstrate } = await guide.load<{
    handler: Implementation
    demonstrate(millrace: Millrace): Promise<unknown[]>
  }>('demonstrate.ts')
  const { forget, forgetPerson } = await guide.load<{
    forget(millrace: Millrace, ward: string): Promise<EraseResult>
    forgetPerson(millrace: Millrace, person: object, progress: object): Promise<number>
  }>('erase.ts')
  expect(() => connect(t.url, {})).toThrow(/Set MILLRACE_ENCRYPTION_KEYS/)
  const key = Buffer.alloc(32, 'k').toString('base64')
  await using millrace = connect(t.url, { MILLRACE_ENCRYPTION_KEYS: `2026a:${key}`, MILLRACE_LOOKUP_KEY: key })
  await millrace.work({ handlers: [handler] })
  expect(await demonstrate(millrace)).toEqual([
    { status: 'completed', result: { bed: 7, diagnosis: 'Ann Berg is well' } },
    { patient: '[encrypted]', ward: 'north' },
    { bed: 7, diagnosis: '[encrypted]' },
  ])
  expect(await forget(millrace, 'north')).toMatchObject({ jobs: 1 })
  await t.sql(
    `insert into millrace.job (type, queue, priority, run_at, max_attempts, payload, created_by, created_at, updated_at)
     values ('a', 'x', 0, now(), 1, '{}', 'ann', now(), now()),
       ('b', 'x', 0, now(), 1, '{"contact": {"email": "ann@example.com"}}', null, now(), now())`,
  )
  const cursors: unknown[] = []
  const keep = (cursor: unknown) => cursors.push(cursor)
  expect(await forgetPerson(millrace, { login: 'ann', email: 'ann@example.com' }, { keep })).toBe(2)
  expect(cursors).toEqual(['archive:0', 'deadLetters:0', 'workflows:0', null])
})

test('sensitive data: a token in a table of the program is sealed, and sealed anew under the next key', async () => {
  await using guide = await examplesOf('sensitive-data.md')
  type Tokens = Record<
    'keep' | 'tokenOf' | 'resealAll',
    (m: Millrace, db: pg.Pool, ...more: unknown[]) => Promise<unknown>
  >
  const { keep, tokenOf, resealAll } = await guide.load<Tokens>('tokens.ts')
  await using t = await setup()
  await t.sql('create table oauth_token (user_id int primary key, sealed text not null)')
  const token = { access: 'at-1', refresh: 'rt-1' }
  await keep(t.client([], { encryption: ringOf('a') }), t.pool, 17, token)
  const millrace = t.client([], { encryption: ringOf('b', 'a') })
  expect(await resealAll(millrace, t.pool)).toBe(1)
  expect(await resealAll(millrace, t.pool)).toBe(0)
  expect(await tokenOf(t.client([], { encryption: ringOf('b') }), t.pool, 17)).toEqual(token)
})
