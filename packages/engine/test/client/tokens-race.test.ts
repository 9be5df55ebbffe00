// Many processes that start with the same ADMIN_TOKEN at the same moment.
import { expect, test } from 'vitest'
import { setup } from '../support/setup.ts'

const named = { name: 'ADMIN_TOKEN', role: 'admin', by: 'the environment' } as const
const SECRET = 'a-secret-of-enough-length'

test('processes that ensure a token at the same moment get one token between them', async () => {
  await using t = await setup()
  const processes = Array.from({ length: 8 }, () => t.client([]))
  const tokens = await Promise.all(processes.map(({ tokens: each }) => each.ensure(SECRET, named)))
  expect(new Set(tokens.map(({ id }) => id)).size).toBe(1)
  const listed = await t.client([]).tokens.list()
  expect(listed).toMatchObject([{ name: 'ADMIN_TOKEN', revokedAt: null }])
})

test('a process that finds the token made between its look and its insert keeps it, and revokes nothing', async () => {
  await using t = await setup()
  const [first, second] = [t.client([]), t.client([])]
  // The row is there, but not committed: the second process has to wait for it, and then finds it.
  const blocker = await t.pool.connect()
  try {
    await blocker.query('begin')
    await blocker.query('lock table millrace.admin_token in share row exclusive mode')
    const both = Promise.all([first.tokens.ensure(SECRET, named), second.tokens.ensure(SECRET, named)])
    const waiting = `select count(*)::int as count from pg_locks where not granted and relation = 'millrace.admin_token'::regclass`
    await expect.poll(async () => (await t.sql<{ count: number }>(waiting))[0]?.count).toBe(2)
    await blocker.query('commit')
    const [one, other] = await both
    expect(one.id).toBe(other.id)
    expect((await first.tokens.list()).filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1)
  } finally {
    blocker.release()
  }
})
