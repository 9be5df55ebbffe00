// Sessions follow Keycloak, by its real protocols.
import { randomUUID } from 'node:crypto'
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { type Dartwing, LARGE, SMALL, setup } from '../support/dartwing.ts'

const sync = (t: Dartwing, keycloakUser: string, organization = LARGE) =>
  runJob(
    t.handler('dartwing_core.auth.sync_keycloak_session'),
    { organization, keycloakUser, reason: 'admin_event' } as never,
    { millrace: t.millrace },
  )

const open = (t: Dartwing) => t.sql('select organization from dartwing.user_session where closed_at is null')

test('sessions that are opened and closed there are opened and closed here', async () => {
  await using t = await setup()
  const user = t.sandbox.keycloak.addUser([LARGE], 2)
  expect(await sync(t, user)).toMatchObject({ outcome: 'completed', result: { opened: 2, closed: 0, kept: 0 } })
  t.sandbox.keycloak.endSession(user)
  expect(await sync(t, user)).toMatchObject({ result: { opened: 0, closed: 1, kept: 1 } })
  expect(await open(t)).toEqual([{ organization: LARGE }])
  t.sandbox.keycloak.removeUser(user)
  expect(await sync(t, user)).toMatchObject({ outcome: 'completed', result: { opened: 0, closed: 1, kept: 0 } })
  expect(t.sandbox.keycloak.tokenCalls, 'the token is kept').toBe(1)
})

test('a user that Keycloak has never known has no session, and that is fine', async () => {
  await using t = await setup()
  expect(await sync(t, randomUUID())).toMatchObject({ outcome: 'completed', result: { opened: 0, closed: 0, kept: 0 } })
})

test('a token that is no longer good costs an attempt, and the next one has a new token', async () => {
  await using t = await setup()
  const user = t.sandbox.keycloak.addUser([LARGE], 1)
  await sync(t, user)
  t.sandbox.keycloak.forgetAdminTokens()
  expect(await sync(t, user)).toMatchObject({ outcome: 'retry', delayMs: 10_000 })
})

test('a user of another organization is refused, and nothing is written', async () => {
  await using t = await setup()
  const user = t.sandbox.keycloak.addUser([SMALL], 1)
  const run = await sync(t, user, LARGE)
  expect(run.outcome).toBe('dead')
  expect(JSON.stringify(run)).toContain('Permission denied')
  expect(await open(t)).toEqual([])
})
