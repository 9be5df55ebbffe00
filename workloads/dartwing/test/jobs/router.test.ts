// Enqueueing by the name of a method: the right queue, the right organization, and refusals that say what to do.
import { expect, test } from 'vitest'
import { enqueueWithIsolation, getOrgJobCount, jobName } from '#src/jobs/router'
import { LARGE, SMALL, setup } from '../support/dartwing.ts'

const FAX = 'dartwing_fax.send_fax'
const CRUD = 'dartwing_core.crud.update_documents'
const change = { doctype: 'Task', names: ['TASK-1'], change: { status: 'Done' } }

test('a job carries its organization, who asked for it, and a name that people read', async () => {
  await using t = await setup()
  const enqueued = await enqueueWithIsolation(t.millrace, {
    ...{ method: FAX, organization: LARGE, user: 'ann@example.com', arguments: { fax: '1' } },
  })
  const job = await t.millrace.job(enqueued.id)
  expect(job).toMatchObject({ queue: 'critical', tenant: LARGE, createdBy: 'ann@example.com' })
  expect(job?.correlationId).toMatch(/^dartwing_fax\.send_fax:ORG-2025-00001:\d{10}\.\d{6}$/)
  expect(jobName('a.b', undefined, 1_762_000_000_123.456)).toBe('a.b:system:1762000000.123456')
})

test('a method that no queue lists runs in default, and a misspelt one is refused with the right name', async () => {
  await using t = await setup()
  const { id } = await enqueueWithIsolation(t.millrace, { method: CRUD, organization: LARGE, arguments: change })
  expect((await t.millrace.job(id))?.queue).toBe('default')
  const misspelt = enqueueWithIsolation(t.millrace, { method: 'dartwing_fax.send_fx', organization: LARGE })
  await expect(misspelt).rejects.toThrow('Did you mean "dartwing_fax.send_fax"?')
})

test('an organization that is unknown or suspended gets no job', async () => {
  await using t = await setup()
  const unknown = enqueueWithIsolation(t.millrace, { method: CRUD, organization: 'ORG-1999-00001', arguments: change })
  await expect(unknown).rejects.toThrow('There is no organization "ORG-1999-00001"')
  await t.sql(`update dartwing.organization set status = 'Suspended' where name = $1`, [SMALL])
  const suspended = enqueueWithIsolation(t.millrace, { method: CRUD, organization: SMALL, arguments: change })
  await expect(suspended).rejects.toThrow('is suspended')
  expect(await t.millrace.jobs()).toEqual([])
})

test('a payload without organization, with an unknown key, or for another tenant is refused', async () => {
  await using t = await setup()
  await expect(t.millrace.enqueueByType(FAX, { fax: '1' })).rejects.toMatchObject({ code: 'invalid_payload' })
  const extra = t.millrace.enqueueByType(FAX, { organization: LARGE, fax: '1', urgent: true })
  await expect(extra).rejects.toThrow('urgent')
  const mismatch = t.millrace.enqueueByType(FAX, { organization: LARGE, fax: '1' }, { tenant: SMALL })
  await expect(mismatch).rejects.toMatchObject({ code: 'tenant_mismatch' })
  expect(await t.millrace.jobs()).toEqual([])
})

test('at its limit an organization is warned and its job is queued; others are not', async () => {
  await using t = await setup()
  const warned: unknown[] = []
  t.millrace.events.on('job_limit_warning', (warning) => warned.push(warning))
  const payloads = Array.from({ length: 500 }, () => ({ organization: LARGE, ...change }))
  const contract = t.handler(CRUD).contract
  const first = await t.millrace.enqueueMany(contract, payloads as never)
  expect(first.flatMap((result) => ('warnings' in result ? result.warnings : []))).toEqual([])
  const args = { method: CRUD, organization: LARGE, user: 'ann@example.com', arguments: change }
  const next = await enqueueWithIsolation(t.millrace, args)
  expect(next).toMatchObject({ status: 'queued', warnings: [{ code: 'tenant_limit' }] })
  expect(warned).toEqual([{ tenant: LARGE, queue: 'default', jobs: 501, limit: 500, createdBy: 'ann@example.com' }])
  expect(await getOrgJobCount(t.millrace, LARGE, 'default')).toBe(501)
  expect(await getOrgJobCount(t.millrace, SMALL, 'default')).toBe(0)
  const small = await enqueueWithIsolation(t.millrace, { ...args, organization: SMALL })
  expect(small).toMatchObject({ status: 'queued', warnings: [] })
})

test('the 101st job in bulk is warned of', async () => {
  await using t = await setup()
  const batches = Array.from({ length: 101 }, (_, i) => ({
    organization: LARGE,
    import: '1',
    batch: i + 1,
    from: 0,
    to: 1,
    firstLine: 2,
  }))
  const results = await t.millrace.enqueueMany(
    t.handler('dartwing_core.imports.process_batch').contract,
    batches as never,
  )
  const warned = results.map((result) => ('warnings' in result ? result.warnings.length : 0))
  expect(warned).toEqual([...Array.from({ length: 100 }, () => 0), 1])
})

test('faxes have no limit', async () => {
  await using t = await setup()
  const faxes = Array.from({ length: 501 }, (_, i) => ({ organization: LARGE, fax: String(i) }))
  const results = await t.millrace.enqueueMany(t.handler(FAX).contract, faxes as never)
  expect(results.every((result) => result.status === 'queued' && result.warnings.length === 0)).toBe(true)
})

test('with `reject` the job beyond the limit throws and is not written, with `defer` it waits', async () => {
  await using t = await setup()
  const by = 'operator'
  const ask = () => enqueueWithIsolation(t.millrace, { method: CRUD, organization: LARGE, arguments: change })
  await t.millrace.tenants.limit(LARGE, 'default', { jobs: 1, over: 'reject' }, { by })
  await ask()
  await expect(ask()).rejects.toMatchObject({ code: 'tenant_limit_reached' })
  expect(await getOrgJobCount(t.millrace, LARGE, 'default')).toBe(1)
  await t.millrace.tenants.limit(LARGE, 'default', { jobs: 1, over: 'defer' }, { by })
  expect(await ask()).toMatchObject({ status: 'deferred' })
})
