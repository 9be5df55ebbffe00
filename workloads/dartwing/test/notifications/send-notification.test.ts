// Notifications: one row in the inbox, and an encrypted message for each browser that can still be reached.
import { drain, runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { enqueueWithIsolation } from '#src/jobs/router'
import { subscriptionAdd } from '#src/notifications/notification-store'
import { type Dartwing, LARGE, setup } from '../support/dartwing.ts'

const METHOD = 'dartwing_core.notifications.send_notification'
const ADMIN = 'admin@org-2025-00001.example'

/** The endpoint of a new browser of the admin. */
async function subscribe(t: Dartwing): Promise<string> {
  const { endpoint, keys } = t.sandbox.push.subscribe()
  await t.millrace.tenantDb(LARGE, (tx) =>
    subscriptionAdd(tx, LARGE, { login: ADMIN, endpoint, ...keys }, (value, options) =>
      t.millrace.seal(value, options),
    ),
  )
  return endpoint
}

const newNotification = (t: Dartwing, body = 'Grüße aus Łódź') =>
  t.write(
    LARGE,
    `insert into dartwing.notification (organization, recipient, title, body) values ($1, $2, 'Hello', $3) returning id`,
    [LARGE, ADMIN, body],
  )

const send = (t: Dartwing, payload: object) =>
  runJob(t.handler(METHOD), { organization: LARGE, ...payload } as never, { millrace: t.millrace })

test('the message that the browser decrypts is the row of the inbox', async () => {
  await using t = await setup()
  await subscribe(t)
  const notification = await newNotification(t)
  expect(await send(t, { notification })).toMatchObject({ outcome: 'completed', result: { pushed: 1, gone: 0 } })
  expect(t.sandbox.push.messages.map(({ text }) => JSON.parse(text))).toEqual([
    { id: notification, title: 'Hello', body: 'Grüße aus Łódź' },
  ])
})

test('a subscription that is gone disappears', async () => {
  await using t = await setup()
  t.sandbox.push.refuse(await subscribe(t), 410)
  await subscribe(t)
  expect(await send(t, { notification: await newNotification(t) })).toMatchObject({ result: { pushed: 1, gone: 1 } })
  expect(await t.sql('select count(*)::int as left from dartwing.push_subscription')).toEqual([{ left: 1 }])
})

test('a retry pushes only what is missing', async () => {
  await using t = await setup()
  await subscribe(t)
  const broken = await subscribe(t)
  t.sandbox.push.refuse(broken, 500)
  const notification = await newNotification(t)
  expect(await send(t, { notification })).toMatchObject({ outcome: 'retry', delayMs: 10_000 })
  t.sandbox.push.refuse(broken, undefined)
  const [job] = await t.millrace.jobs()
  expect(await t.millrace.runNow(job?.id as string, { by: 'test' })).toBe(true)
  expect(await drain(t.millrace, t.workload.handlers)).toMatchObject([{ outcome: 'completed', result: { pushed: 2 } }])
  expect(t.sandbox.push.messages.length).toBe(2)
})

test('a push service that asks for patience gets it, and no attempt is used', async () => {
  await using t = await setup()
  t.sandbox.push.refuse(await subscribe(t), 429)
  expect(await send(t, { notification: await newNotification(t) })).toMatchObject({
    outcome: 'snoozed',
    delayMs: 7_000,
  })
})

test('by a template an organization is told once of a thing', async () => {
  await using t = await setup()
  const about = { template: 'stuck_job', about: '31', to: 'admins' }
  await send(t, about)
  await send(t, about)
  expect(await t.sql('select recipient, body from dartwing.notification')).toEqual([
    { recipient: 'admins', body: 'It ran for twice its time, so it was ended: dead letter 31.' },
  ])
})

test('a payload names either a row or a template', async () => {
  await using t = await setup()
  await expect(send(t, {})).rejects.toThrow('expected either "notification", or "template" with "about"')
  await expect(send(t, { notification: '1', template: 'stuck_job', about: '1' })).rejects.toMatchObject({
    code: 'invalid_payload',
  })
})

test('who enqueues beyond the limit is told once a minute, however many jobs they enqueue', async () => {
  await using t = await setup()
  await t.millrace.tenants.limit(LARGE, 'default', { jobs: 1, over: 'warn' }, { by: 'operator' })
  const change = { doctype: 'Task', names: ['TASK-1'], change: { status: 'Done' } }
  for (let i = 0; i < 20; i++)
    await enqueueWithIsolation(t.millrace, {
      method: 'dartwing_core.crud.update_documents',
      organization: LARGE,
      user: ADMIN,
      arguments: change,
    })
  await drain(t.millrace, t.workload.handlers)
  const told = await t.sql<{ recipient: string; about: string }>(
    'select distinct recipient, template from dartwing.notification',
  )
  expect(told).toEqual([{ recipient: ADMIN, template: 'job_limit' }])
  const [count] = await t.sql<{ rows: number }>('select count(*)::int as rows from dartwing.notification')
  expect(count?.rows, 'a minute may have ended meanwhile').toBeLessThanOrEqual(2)
})
