// Webhooks: signed as others expect it, and harmless whatever the address of the endpoint is.
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { RECEIVER_SECRET } from '#src/sandbox/receivers'
import { secretsFor } from '#src/webhooks/secrets'
import { type Dartwing, LARGE, setup } from '../support/dartwing.ts'

const METHOD = 'dartwing_core.webhooks.dispatch'

interface EndpointOptions {
  readonly receiver?: string
  readonly url?: string
  readonly secrets?: readonly string[]
}

async function newDelivery(
  t: Dartwing,
  { receiver = 'orders', url, secrets = [RECEIVER_SECRET] }: EndpointOptions = {},
) {
  const address = url ?? `${t.sandbox.url}/receivers/${receiver}`
  const endpoint = await t.write(
    LARGE,
    `insert into dartwing.webhook_endpoint (organization, url, sealed_secrets) values ($1, $2, '') returning id`,
    [LARGE, address],
  )
  const sealed = t.millrace.seal(secrets, { for: secretsFor(LARGE, endpoint) })
  await t.sql('update dartwing.webhook_endpoint set sealed_secrets = $2 where id = $1', [endpoint, sealed])
  const delivery = await t.write(
    LARGE,
    `insert into dartwing.webhook_delivery (organization, endpoint, event, body) values ($1, $2, 'order.created', '{"order":7}') returning id`,
    [LARGE, endpoint],
  )
  return { organization: LARGE, endpoint, delivery }
}

const dispatch = (t: Dartwing, payload: object, options: object = {}) =>
  runJob(t.handler(METHOD), payload as never, { millrace: t.millrace, ...options })

const endpoints = (t: Dartwing, { endpoint }: { endpoint: string }) =>
  t.sql('select disabled_reason, failures_in_a_row from dartwing.webhook_endpoint where id = $1', [endpoint])

test('a receiver verifies the signature with a library of others', async () => {
  await using t = await setup()
  const payload = await newDelivery(t)
  expect(await dispatch(t, payload)).toMatchObject({ outcome: 'completed', result: { status: 200 } })
  expect(t.sandbox.receivers.events).toMatchObject([
    { receiver: 'orders', type: 'order.created', id: `delivery-${payload.delivery}` },
  ])
})

test('during a rotation the old and the new secret verify', async () => {
  await using t = await setup()
  const old = `whsec_${Buffer.from('what they expected before').toString('base64')}`
  const secrets = [RECEIVER_SECRET, old]
  for (const receiver of ['orders', 'old-secret'])
    expect(await dispatch(t, await newDelivery(t, { receiver, secrets }))).toMatchObject({ outcome: 'completed' })
  expect(t.sandbox.receivers.events.map(({ receiver }) => receiver)).toEqual(['old-secret', 'orders'])
})

test('an endpoint that is gone is disabled, and gets nothing more', async () => {
  await using t = await setup()
  const payload = await newDelivery(t, { receiver: 'gone' })
  expect((await dispatch(t, payload)).outcome).toBe('cancelled')
  expect(await endpoints(t, payload)).toEqual([
    { disabled_reason: 'It answered 410: it is gone.', failures_in_a_row: 0 },
  ])
  expect((await dispatch(t, payload)).outcome).toBe('cancelled')
})

test('an endpoint that asks for patience gets it, and no attempt is used', async () => {
  await using t = await setup()
  t.sandbox.set('receivers', 'limited')
  expect(await dispatch(t, await newDelivery(t))).toMatchObject({ outcome: 'snoozed', delayMs: 5_000 })
})

test('a failure is tried again, and twenty dead deliveries in a row disable the endpoint', async () => {
  await using t = await setup()
  const payload = await newDelivery(t, { receiver: 'broken' })
  expect(await dispatch(t, payload)).toMatchObject({ outcome: 'retry', delayMs: 60_000 })
  await t.sql('update dartwing.webhook_endpoint set failures_in_a_row = 19 where id = $1', [payload.endpoint])
  const last = { ...payload, delivery: (await newDelivery(t)).delivery }
  await t.sql('update dartwing.webhook_delivery set endpoint = $1 where id = $2', [payload.endpoint, last.delivery])
  expect((await dispatch(t, last, { maxAttempts: 1 })).outcome).toBe('dead')
  expect(await endpoints(t, payload)).toEqual([
    { disabled_reason: '20 deliveries in a row have failed.', failures_in_a_row: 20 },
  ])
})

test.each([
  ['a private address', 'http://10.0.0.7/hook'],
  ['the metadata server', 'http://169.254.169.254/latest'],
  ['another port of this machine', 'http://127.0.0.1:1/hook'],
])('%s is refused at once', async (_, url) => {
  await using t = await setup()
  expect((await dispatch(t, await newDelivery(t, { url }))).outcome).toBe('dead')
})

test('a private address behind a redirect is refused, too', async () => {
  await using t = await setup()
  expect((await dispatch(t, await newDelivery(t, { receiver: 'redirecting' }))).outcome).toBe('dead')
})

test('at most two deliveries to one endpoint run at once', () => {
  return expect(import('#src/contracts/default')).resolves.toMatchObject({
    dispatchWebhook: { keyLimit: { concurrency: 2 } },
  })
})
