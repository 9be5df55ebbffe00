// Job: why it waits, what helps, edit and retry, attempts side by side.
import { expect, inject } from 'vitest'
import { browse, expectAccessible, test } from './support/browse.ts'
import { experiment } from './support/lab.ts'
import { clientOf } from './support/system.ts'

const waitFor = async (read: () => Promise<{ status: string } | undefined>, status: string) =>
  expect.poll(async () => (await read())?.status).toBe(status)

test('a job that waits says why, and the right button lets it run', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  const tenant = 'paused-shop'
  await millrace.pauses.pause({ tenant, queue: 'lab' }, { by: 'ann', reason: 'their keys are being changed' })
  const { id } = await millrace.enqueue(experiment, { note: 'waits' }, { tenant })
  await using opened = await browse(`/admin/jobs/${id}`, { as: 'operator' })
  const { page } = opened
  await page.getByRole('heading', { level: 1, name: `Job ${id} waits because it is paused.` }).waitFor()
  const why = page.getByRole('region', { name: 'Why is it not running?' })
  await why.getByText('their keys are being changed').first().waitFor()
  await why.getByText('a worker can run it').waitFor()
  await why.getByText(`millrace resume --queue lab --tenant ${tenant}`).waitFor()
  await expectAccessible(page)
  await why.getByRole('button', { name: /^Resume queue lab and tenant paused-shop/ }).click()
  await page.getByRole('heading', { level: 1, name: new RegExp(`Job ${id} is completed`) }).waitFor()
  await page.getByRole('region', { name: 'Result' }).getByText('measured').waitFor()
})

test('a job whose tenant has no slot left is expected when a run ends, and starts then', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  const tenant = 'one-slot-shop'
  await millrace.tenants.set(tenant, { maxSlots: 1 }, { by: 'ann' })
  const { id: holder } = await millrace.enqueue(experiment, { holds: true }, { tenant })
  await waitFor(() => millrace.job(holder), 'processing')
  const { id } = await millrace.enqueue(experiment, { note: 'the next one' }, { tenant })
  await using opened = await browse(`/admin/jobs/${id}`, { as: 'operator' })
  const { page } = opened
  const why = page.getByRole('region', { name: 'Why is it not running?' })
  await page.getByRole('heading', { level: 1, name: /its tenant holds all the slots/ }).waitFor()
  await why.getByText('Each run that ends frees a place. No job of its tenant comes first').waitFor()
  await why.getByRole('button', { name: `Let ${tenant} hold 2 slots` }).waitFor()
  await millrace.cancel(holder, { by: 'ann' })
  await page.getByRole('heading', { level: 1, name: `Job ${id} is completed` }).waitFor()
})

test('a dead job is tried again with an edited payload', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  const { id } = await millrace.enqueue(experiment, { fails: 'the sample is contaminated', note: 'kept' })
  await waitFor(() => millrace.job(id), 'dead')
  await using opened = await browse(`/admin/jobs/${id}`, { as: 'operator' })
  const { page } = opened
  await page.getByRole('heading', { level: 1, name: /is dead: its error cannot be mended/ }).waitFor()
  await page.getByRole('button', { name: 'Edit and retry' }).click()
  const dialog = page.getByRole('dialog')
  const field = dialog.getByLabel('Payload', { exact: true })
  await field.fill('{ "note": ')
  await dialog.getByText('This is no JSON').first().waitFor()
  await field.fill('{ "note": "clean now" }')
  await dialog.getByText('note: "kept"').waitFor()
  await dialog.getByText('note: "clean now"').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Try again with this payload' }).click()
  await page.waitForURL((url) => /\/jobs\/\d+$/.test(url.pathname) && !url.pathname.endsWith(`/${id}`))
  await page.getByRole('heading', { level: 1, name: /is completed/ }).waitFor()
})

test('attempts stand side by side with only what changed', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  const { jobs } = await millrace.search.jobs('status:dead type:van.book attempt:>1', { limit: 1 })
  await using opened = await browse(`/admin/jobs/${jobs[0]?.id}`)
  const { page } = opened
  const section = page.getByRole('region', { name: 'Attempts side by side' })
  await section.getByText(/changed between the two|Both failed in the same way/).waitFor()
  await section.getByText(/^The same in both/).waitFor()
  await page.getByRole('region', { name: 'Its life so far' }).getByText('ran and failed').waitFor()
  await page.getByRole('link', { name: 'all failures like it' }).waitFor()
  await expectAccessible(page)
})

test('a viewer sees no button that would answer 403, and no payload', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  const { id } = await millrace.enqueue(experiment, { note: 'private' }, { delay: '1h' })
  await using opened = await browse(`/admin/jobs/${id}`, { as: 'viewer', width: 390, theme: 'dark' })
  const { page } = opened
  await page.getByRole('heading', { level: 1, name: /its time has not come/ }).waitFor()
  await page.getByText('Payloads and results are shown to operators and admins.').waitFor()
  expect(await page.getByRole('button', { name: /Try|Edit|Prioritise|Cancel|Make/ }).count()).toBe(0)
  expect(await page.getByText('private').count()).toBe(0)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await expectAccessible(page)
})

test('a change that the server refuses is told, and nothing is shown as done', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  const { id } = await millrace.enqueue(experiment, { note: 'late' }, { delay: '1h' })
  await using opened = await browse(`/admin/jobs/${id}`, { as: 'operator', expects: /409/ })
  const { page } = opened
  await page.getByRole('button', { name: 'Cancel' }).click()
  // Somebody is faster.
  await page.getByRole('button', { name: /live/ }).dispatchEvent('click')
  await millrace.cancel(id, { by: 'bob', reason: 'mine' })
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click()
  await page
    .getByRole('dialog')
    .getByRole('alert')
    .getByText(/cancelled/)
    .first()
    .waitFor()
})

test('hostile texts are shown as text, and an error of ten thousand lines does not hang the page', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  const hostile = `<img src=x onerror=alert(1)>\u202egnp\n${'a line of an error\n'.repeat(10_000)}`
  const { id } = await millrace.enqueue(experiment, { fails: hostile, note: '<script>alert(2)</script>', lines: 60 })
  await waitFor(() => millrace.job(id), 'dead')
  await using opened = await browse(`/admin/jobs/${id}`, { as: 'operator' })
  const { page } = opened
  const alerts: string[] = []
  page.on('dialog', (dialog) => void alerts.push(dialog.message()))
  await page
    .getByRole('region', { name: /^Error of attempt/ })
    .getByText('<img src=x')
    .first()
    .waitFor()
  await page.getByText('line 60').first().waitFor()
  const started = Date.now()
  await page.getByRole('button', { name: 'Edit and retry' }).click()
  await page.getByRole('dialog').waitFor()
  expect(Date.now() - started).toBeLessThan(3_000)
  expect(alerts).toEqual([])
})

test('a job that does not exist says so', async () => {
  await using opened = await browse('/admin/jobs/999999999', { expects: /404/ })
  await opened.page.getByRole('heading', { level: 1, name: 'There is no job 999999999.' }).waitFor()
})
