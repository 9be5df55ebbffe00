import { expect, test } from 'vitest'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { hands } from '../support/hands.ts'

test('tokens are forgotten 30 days after they expired or were revoked, and sessions when they end', async () => {
  await using t = await hands([], '2030-01-01T00:00:00Z')
  const { tokens } = t.millrace
  const by = 'ann'
  const { secret } = await tokens.create({ name: 'lasting', by })
  await tokens.create({ name: 'revoked', by })
  await tokens.create({ name: 'expiring', by, expiresIn: '5d' })
  await tokens.openSession(secret)
  await tokens.revoke('revoked', { by })
  const housekeeper = new Housekeeper({ db: t.db, clock: t.clock, registry: new Registry([]) })
  const kept = async () => {
    await housekeeper.tick()
    const rows = await t.sql<{ name: string; isSession: boolean }>(
      `select name, session_of is not null as "isSession" from millrace.admin_token order by id`,
    )
    return rows.map(({ name, isSession }) => (isSession ? `session of ${name}` : name))
  }
  expect(await kept()).toEqual(['lasting', 'revoked', 'expiring', 'session of lasting'])
  t.clock.advance('1d')
  expect(await kept()).toEqual(['lasting', 'revoked', 'expiring'])
  t.clock.advance('29d')
  t.clock.advance('1s')
  expect(await kept()).toEqual(['lasting', 'expiring'])
  t.clock.advance('5d')
  expect(await kept()).toEqual(['lasting'])
  expect(await tokens.verify(secret)).toMatchObject({ name: 'lasting' })
})
