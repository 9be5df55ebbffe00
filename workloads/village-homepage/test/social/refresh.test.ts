import { createMillrace } from 'millrace'
import { enqueued, runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { seedSocial } from '#sandbox/seed-social'
import { ACCOUNTS, tokenFor } from '#sandbox/social'
import { tokenOf } from '#src/social/token-store'
import { adminSetup } from '../support/admin.ts'
import { TEST_KEY } from '../support/setup.ts'

const NOW = new Date('2026-11-18T15:00:00Z')

async function village() {
  let now = NOW
  const t = await adminSetup({ clock: { now: () => now }, sandbox: { now: () => now } })
  await seedSocial(t.parts, { instagram: t.sandbox.urlOf('instagram'), mastodon: t.sandbox.urlOf('mastodon') })
  const rows = await t.sql<{ id: string; handle: string }>('select id, handle from village.social_accounts')
  const ids = new Map(rows.map(({ id, handle }) => [handle, id]))
  return Object.assign(t, {
    moveTo(at: string) {
      now = new Date(at)
    },
    id: (handle: string) => ids.get(handle) as string,
    refresh: (handle: string, dedupKey = handle) =>
      runJob(
        t.handler('SOCIAL_REFRESH'),
        { account_id: ids.get(handle) as string },
        { millrace: t.millrace, dedupKey },
      ),
    account: async (handle: string) =>
      (await t.sql('select * from village.social_accounts where handle = $1', [handle]))[0],
    posts: async () =>
      (await t.sql<{ count: number }>('select count(*)::int as count from village.social_posts'))[0]?.count,
  })
}

test('the schedule brings one job for each account that may be asked', async () => {
  await using t = await village()
  const all = await runJob(t.handler('SOCIAL_REFRESH'), {}, { millrace: t.millrace })
  expect(all).toMatchObject({ result: { due: 4, enqueued: 4, duplicate: 0 } })
  const jobs = await enqueued(t.millrace, t.parts.contracts.SOCIAL_REFRESH)
  expect(jobs.filter(({ payload }) => payload.account_id !== undefined)).toHaveLength(4)
})

test('posts of both networks are stored once, and later ones come to them', async () => {
  await using t = await village()
  expect(await t.refresh('village')).toMatchObject({ result: { posts_new: 8, token: 'kept' } })
  expect(await t.refresh('village')).toMatchObject({ result: { posts_new: 0 } })
  t.moveTo('2026-11-18T21:00:00Z')
  expect(await t.refresh('village')).toMatchObject({ result: { posts_new: 2 } })
  expect(await t.posts()).toBe(10)
  expect(await (await t.send('GET /village/blocks/posts')).text()).toMatch(/@village on Mastodon/)
})

test('a token with less than seven days left is replaced before it is used, and stored sealed', async () => {
  await using t = await village()
  expect(await t.refresh('village.square')).toMatchObject({ result: { posts_new: 8, token: 'refreshed' } })
  expect(await t.account('village.square')).toMatchObject({
    state: 'active',
    token_expires_at: new Date('2027-01-17T15:00:00Z'),
  })
  expect(await t.refresh('village.square')).toMatchObject({ result: { token: 'kept' } })
  t.moveTo('2026-11-25T15:00:00Z') // the first token has expired by now
  expect(await t.refresh('village.square')).toMatchObject({ result: { token: 'kept' } })
})

test.each(['village.bakery', 'choir'])('an expired or revoked token must be authorised again: %s', async (handle) => {
  await using t = await village()
  const outcome = await t.refresh(handle)
  expect(outcome).toMatchObject({ outcome: 'cancelled', reason: expect.stringContaining('must be authorised again') })
  expect(await t.account(handle)).toMatchObject({ state: 'reauthorise' })
  expect(await (await t.send('GET /village/blocks/posts')).text()).toContain(`@${handle} on`)
  const token = await t.token('operator')
  const fresh = tokenFor({ provider: 'mastodon', handle, tokenDays: null }, NOW)
  const given = await t.call(`PUT /admin/api/social-accounts/${t.id(handle)}/tokens`, {
    token,
    body: { access_token: fresh },
  })
  expect([given.status, JSON.stringify(given.body)]).toEqual([200, expect.not.stringContaining(fresh)])
  expect(await t.refresh(handle)).toMatchObject({ result: { posts_new: 8 } })
})

test('a network that is down is tried again, and one that has enough says when', async () => {
  await using t = await village()
  t.sandbox.set('mastodon', 'down')
  expect(await t.refresh('village', 'down')).toMatchObject({ outcome: 'retry' })
  t.sandbox.set('mastodon', 'limited')
  expect(await t.refresh('village', 'limited')).toMatchObject({ outcome: 'snoozed' })
  expect(await t.account('village')).toMatchObject({ state: 'active' })
})

test('no token is in the database, in a log, or in an error', async () => {
  await using t = await village()
  for (const { handle } of ACCOUNTS) await t.refresh(handle)
  t.sandbox.set('instagram', 'down')
  const failed = JSON.stringify(await t.refresh('village.square', 'down'))
  const tables = await t.sql<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_schema in ('millrace', 'village') and table_type = 'BASE TABLE'`,
  )
  expect(tables.length).toBeGreaterThan(40)
  const dump = (await Promise.all(tables.map(({ name }) => t.sql(`select t::text as row from ${name} as t`)))).flat()
  const text = JSON.stringify([dump, failed])
  expect(text).toContain('village.square')
  for (const account of ACCOUNTS) expect(text).not.toContain(tokenFor(account, NOW))
  expect(text).not.toContain('granted~')
})

test('a token survives a new key, is sealed under it when it is read, and does not open in the row of another account', async () => {
  await using t = await village()
  const [kept, other] = [
    { accountId: t.id('village'), kind: 'access' as const },
    { accountId: t.id('choir'), kind: 'access' as const },
  ]
  const newer = { id: 'newer', key: Buffer.alloc(32, 9) }
  const client = (keys: (typeof TEST_KEY)[]) => createMillrace({ database: t.url, jobs: [], encryption: { keys } })
  const both = client([newer, TEST_KEY])
  const token = tokenFor({ provider: 'mastodon', handle: 'village', tokenDays: null }, NOW)
  expect(await tokenOf(both, t.parts.database, kept)).toBe(token)
  await both.close()
  const after = client([newer])
  expect(await tokenOf(after, t.parts.database, kept)).toBe(token)
  await t.sql(
    `update village.social_tokens set sealed = (select sealed from village.social_tokens where account_id = $1)
    where account_id = $2`,
    [kept.accountId, other.accountId],
  )
  await expect(tokenOf(after, t.parts.database, other)).rejects.toThrow()
  await after.close()
  expect(await t.refresh('choir')).toMatchObject({
    outcome: 'dead',
    failure: { message: expect.stringContaining('cannot be opened') },
  })
})
