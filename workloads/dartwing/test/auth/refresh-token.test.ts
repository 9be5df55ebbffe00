// Tokens of integrations are renewed ahead of time, once, and are seen nowhere.
import { drain, runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { tokenFor } from '#src/integrations/integration-store'
import { type Dartwing, LARGE, setup } from '../support/dartwing.ts'

const METHOD = 'dartwing_core.integrations.refresh_token'

async function newIntegration(t: Dartwing): Promise<{ id: string; token: string }> {
  const { issuer, integration } = t.sandbox.keycloak
  const token = await t.sandbox.keycloak.newRefreshToken()
  const id = await t.write(
    LARGE,
    `insert into dartwing.integration (organization, title, issuer, client_id, sealed_client_secret, sealed_refresh_token)
     values ($1, 'Calendar', $2, $3, '', '') returning id`,
    [LARGE, issuer, integration.clientId],
  )
  const seal = (value: string, column: 'client_secret' | 'refresh_token') =>
    t.millrace.seal(value, { for: tokenFor(LARGE, id, column) })
  await t.sql('update dartwing.integration set sealed_client_secret = $2, sealed_refresh_token = $3 where id = $1', [
    ...[id, seal(integration.clientSecret, 'client_secret'), seal(token, 'refresh_token')],
  ])
  return { id, token }
}

/** Due or for later. */
const waitingOf = async (t: Dartwing) =>
  (await t.millrace.jobs({ type: METHOD })).filter(({ finishedAt }) => finishedAt === null)

const refresh = (t: Dartwing, integration: string) =>
  runJob(t.handler(METHOD), { organization: LARGE, integration } as never, { millrace: t.millrace })

test('a token is renewed and rotated, and the next refresh is five minutes before its end', async () => {
  await using t = await setup()
  const { id } = await newIntegration(t)
  const run = await refresh(t, id)
  expect(run).toMatchObject({ outcome: 'completed', result: { rotated: true } })
  const [next] = await waitingOf(t)
  const { expiresAt } = (run as unknown as { result: { expiresAt: string } }).result
  expect(next?.runAt.getTime()).toBe(Date.parse(expiresAt) - 300_000)
  expect(t.sandbox.keycloak.tokenCalls).toBe(1)
})

test('a token that is good for long is not renewed, and the next refresh is asked for all the same', async () => {
  await using t = await setup()
  const { id } = await newIntegration(t)
  await refresh(t, id)
  const [waiting] = await waitingOf(t)
  await t.millrace.runNow(waiting?.id as string, { by: 'test' })
  expect(await drain(t.millrace, t.workload.handlers)).toMatchObject([
    { outcome: 'completed', result: { rotated: false } },
  ])
  expect(t.sandbox.keycloak.tokenCalls).toBe(1)
  expect(await waitingOf(t)).toMatchObject([{ type: METHOD }])
})

test('twenty who ask at once cause one refresh, and leave one next one', async () => {
  await using t = await setup()
  const { id } = await newIntegration(t)
  const contract = t.handler(METHOD).contract
  await Promise.all(
    Array.from({ length: 20 }, () => t.millrace.enqueue(contract, { organization: LARGE, integration: id } as never)),
  )
  await drain(t.millrace, t.workload.handlers)
  expect(t.sandbox.keycloak.tokenCalls).toBe(1)
  expect(await waitingOf(t)).toMatchObject([{ type: METHOD, tenant: LARGE }])
})

test('a grant that the provider no longer accepts needs a person, who is told, and is not asked for again', async () => {
  await using t = await setup()
  const { id, token } = await newIntegration(t)
  await refresh(t, id)
  // As after a lost answer: the old token is used again, which ends the grant.
  await t.sql(`update dartwing.integration set expires_at = null, sealed_refresh_token = $2 where id = $1`, [
    ...[id, t.millrace.seal(token, { for: tokenFor(LARGE, id, 'refresh_token') })],
  ])
  const [waiting] = await waitingOf(t)
  await t.millrace.runNow(waiting?.id as string, { by: 'test' })
  const runs = await drain(t.millrace, t.workload.handlers)
  expect(runs[0]?.outcome).toBe('dead')
  expect(await t.sql('select state, problem from dartwing.integration')).toEqual([
    { state: 'needs_reauthorization', problem: 'Its provider no longer accepts the refresh token.' },
  ])
  expect(await t.sql('select template, recipient from dartwing.notification')).toEqual([
    { template: 'reauthorization', recipient: 'admins' },
  ])
  expect(await waitingOf(t)).toEqual([])
})

test('no token is in a job, a step, a letter or a log', async () => {
  await using t = await setup()
  const { id, token } = await newIntegration(t)
  const first = await refresh(t, id)
  const [row] = await t.sql<{ access: string }>('select sealed_access_token as access from dartwing.integration')
  const access = t.millrace.open(row?.access ?? '', { for: tokenFor(LARGE, id, 'access_token') }) as string
  const tables = ['job', 'job_archive', 'job_attempt', 'dead_letter_jobs', 'audit_log']
  const texts = await Promise.all(
    tables.map((table) => t.sql(`select to_jsonb(row)::text as text from millrace.${table} as row`)),
  )
  const all = JSON.stringify([texts, first])
  for (const secret of [token, access, t.sandbox.keycloak.integration.clientSecret]) expect(all).not.toContain(secret)
})
