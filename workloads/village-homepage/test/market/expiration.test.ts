import { enqueued, runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { setup, type Village } from '../support/setup.ts'

const DAY_MS = 86_400_000
const NOW = new Date('2026-11-18T02:00:00Z')
const inDays = (days: number) => new Date(NOW.getTime() + days * DAY_MS)

async function market() {
  const t = await setup()
  const [seller] = await t.sql<{ id: string }>(
    "insert into village.contacts (email, name) values ('bob@work.example', 'Bob') returning id",
  )
  return Object.assign(t, {
    offer: (title: string, endsAt: Date, status = 'active') =>
      t.sql(
        'insert into village.listings (title, price_cents, seller_id, expires_at, status) values ($1, 100, $2, $3, $4)',
        [title, seller?.id, endsAt, status],
      ),
    offerMany: (count: number, endsAt: Date) =>
      t.sql(
        `insert into village.listings (title, price_cents, seller_id, expires_at)
        select 'Boat ' || i, 100, $1, $2 from generate_series(1, $3) as i`,
        [seller?.id, endsAt, count],
      ),
    run: (at: Date, dedupKey = 'all') =>
      runJob(t.handler('LISTING_EXPIRATION'), { as_of: at.toISOString() }, { millrace: t.millrace, dedupKey }),
  })
}

const notices = (t: Village) =>
  t.sql<{ kind: string; subject: string }>('select kind, subject from village.messages order by subject')

test('a listing is reminded of at seven days and at one, and ends at the first run after its time', async () => {
  await using t = await market()
  await t.offer('A boat', inDays(7.5))
  expect(await t.run(NOW)).toMatchObject({ outcome: 'completed', result: { expired: 0, reminded: 0 } })
  expect(await t.run(inDays(1))).toMatchObject({ result: { expired: 0, reminded: 1 } })
  expect(await t.run(inDays(2))).toMatchObject({ result: { expired: 0, reminded: 0 } })
  expect(await t.run(inDays(7))).toMatchObject({ result: { expired: 0, reminded: 1 } })
  expect(await t.run(inDays(7.5))).toMatchObject({ result: { expired: 1, reminded: 0 } })
  expect(await t.run(inDays(8))).toMatchObject({ result: { expired: 0, reminded: 0 } })
  expect(await notices(t)).toEqual([
    { kind: 'expired', subject: 'A boat is no longer shown' },
    { kind: 'reminder_1d', subject: 'A boat is shown for one more day' },
    { kind: 'reminder_7d', subject: 'A boat is shown for seven more days' },
  ])
  expect(await t.sql('select status from village.listings')).toEqual([{ status: 'expired' }])
})

test('two runs at once remind and end each listing once, with one mail each', async () => {
  await using t = await market()
  await t.offerMany(40, inDays(6))
  await t.offerMany(40, inDays(-1))
  const runs = await Promise.all([t.run(NOW, 'one'), t.run(NOW, 'two')])
  const sums = runs.map((run) => (run as { result?: unknown }).result as { expired: number; reminded: number })
  expect([
    sums.reduce((sum, { expired }) => sum + expired, 0),
    sums.reduce((sum, { reminded }) => sum + reminded, 0),
  ]).toEqual([40, 40])
  expect(await notices(t)).toHaveLength(80)
  const jobs = await enqueued(t.millrace, t.parts.contracts.MESSAGE_RELAY)
  expect(new Set(jobs.map(({ payload }) => payload.message_id)).size).toBe(80)
})

test('a run that dies between notice and job leaves neither', async () => {
  await using t = await market()
  await t.offer('A boat', inDays(3))
  await t.sql('alter table village.messages rename to messages_elsewhere')
  expect(await t.run(NOW)).toMatchObject({ outcome: 'retry' })
  await t.sql('alter table village.messages_elsewhere rename to messages')
  expect(await t.sql('select * from village.listing_notices')).toEqual([])
  expect(await t.run(NOW, 'again')).toMatchObject({ result: { reminded: 1 } })
})

test('a listing with hours left is told once, and one that was missed for a week ends without reminders', async () => {
  await using t = await market()
  await t.offer('Bread', inDays(0.2))
  await t.offer('Milk', inDays(-6))
  await t.offer('Sold', inDays(-6), 'sold')
  expect(await t.run(NOW)).toMatchObject({ result: { expired: 1, reminded: 1 } })
  expect((await notices(t)).map(({ kind }) => kind)).toEqual(['reminder_1d', 'expired'])
})

test('more than a batch of listings end in one run', async () => {
  await using t = await market()
  await t.offerMany(1_100, inDays(-1))
  expect(await t.run(NOW)).toMatchObject({ result: { expired: 1_100, reminded: 0 } })
})

test('the notice reaches the seller as a mail, with a title that breaks no header', async () => {
  await using t = await market()
  await t.offer('A boat\r\nBcc: all@example.com', inDays(3))
  await t.run(NOW)
  const [job] = await enqueued(t.millrace, t.parts.contracts.MESSAGE_RELAY)
  const relay = { message_id: job?.payload.message_id as string }
  await runJob(t.handler('MESSAGE_RELAY'), relay, { millrace: t.millrace, dedupKey: 'test' })
  expect(t.sandbox.mailboxes.mails).toMatchObject([
    { to: 'bob@work.example', subject: 'A boat Bcc: all@example.com is shown for seven more days' },
  ])
  expect(t.sandbox.mailboxes.mails[0]?.text).toContain('ends on 21 November 2026')
})
