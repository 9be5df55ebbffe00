// Jobs: find some, look at one, change many.
import { expect, inject } from 'vitest'
import { browse, expectAccessible, test } from './support/browse.ts'
import { experiment } from './support/lab.ts'
import { clientOf } from './support/system.ts'

const ids = (page: Awaited<ReturnType<typeof browse>>['page']) => page.locator('.jobs-row .c-id').allInnerTexts()

test('a search is completed from suggestions by keyboard, and stands in the URL', async () => {
  await using opened = await browse('/admin/jobs')
  const { page } = opened
  await page.getByRole('table', { name: 'Jobs' }).waitFor()
  await page.keyboard.press('/')
  const field = page.getByRole('combobox', { name: 'Search jobs' })
  await field.pressSequentially('stat')
  await page.getByRole('option', { name: /^status:/ }).waitFor()
  await field.press('Tab')
  await page.getByRole('option', { name: /^dead / }).waitFor()
  await field.pressSequentially('de')
  await page.getByRole('option', { name: /^completed/ }).waitFor({ state: 'detached' })
  await field.press('ArrowDown')
  await field.press('Enter')
  expect(await field.inputValue()).toBe('status:dead ')
  await field.press('Escape')
  await field.press('Enter')
  await page.waitForURL(/q=status%3Adead$/)
  await page.getByRole('heading', { level: 1, name: /\d+ jobs fit\./ }).waitFor()
  await page.locator('.jobs-row .c-state', { hasText: 'completed' }).first().waitFor({ state: 'detached' })
  expect(new Set(await page.locator('.jobs-row .c-state').allInnerTexts())).toEqual(new Set(['dead']))
  await page.getByRole('navigation', { name: 'Jobs by status' }).getByRole('link', { name: 'Completed' }).click()
  await page.waitForURL(/q=status%3Acompleted$/)
})

test('a query that cannot be read shows where, and what may be meant', async () => {
  await using opened = await browse('/admin/jobs?q=queue%3Adefault+statu%3Adead', { expects: /400/ })
  const { page } = opened
  const problem = page.getByRole('alert')
  expect(await problem.locator('mark').innerText()).toBe('statu')
  await problem.getByText(/There is no field "statu"/).waitFor()
  await expectAccessible(page)
  await problem.getByRole('button', { name: 'Use status' }).click()
  await page.waitForURL(/q=queue%3Adefault\+status%3Adead/)
  await page.getByRole('table', { name: 'Jobs' }).waitFor()
})

test('rows stay where they are while one reads: new jobs are announced', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  const { id: first } = await millrace.enqueue(experiment, { note: 'first' }, { correlationId: 'announced' })
  await using opened = await browse('/admin/jobs?q=correlation%3Aannounced')
  const { page } = opened
  await page.locator('.jobs-row').getByText('completed').waitFor()
  const { id: second } = await millrace.enqueue(experiment, { note: 'second' }, { correlationId: 'announced' })
  const announcement = page.getByRole('button', { name: 'Show 1 new job' })
  await announcement.waitFor()
  expect(await ids(page)).toEqual([first])
  await announcement.click()
  await page.locator('.c-id').getByText(second).waitFor()
  expect(await ids(page)).toEqual([second, first])
})

test('a job is looked at beside the list, by keys', async () => {
  await using opened = await browse('/admin/jobs?q=status%3Adead')
  const { page } = opened
  await page.getByRole('table', { name: 'Jobs' }).waitFor()
  const [first, second] = await ids(page)
  await page.keyboard.press('j')
  await page.keyboard.press('o')
  await page.getByRole('complementary', { name: `Job ${first}` }).waitFor()
  await page.keyboard.press('j')
  const peek = page.getByRole('complementary', { name: `Job ${second}` })
  await peek.getByRole('button', { name: 'Try again' }).waitFor()
  expect(page.url()).toContain(`job=${second}`)
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await peek.waitFor({ state: 'detached' })
})

test('chosen jobs are prioritised after a preview, and given back', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  for (let i = 0; i < 3; i++)
    await millrace.enqueue(experiment, { note: 'later' }, { correlationId: 'chosen', delay: '1h', priority: 7 })
  await using opened = await browse('/admin/jobs?q=correlation%3Achosen', { as: 'operator' })
  const { page } = opened
  await page.getByRole('table', { name: 'Jobs' }).waitFor()
  const chosen = await ids(page)
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key)
  const bar = page.getByRole('region', { name: 'Selected jobs' })
  await bar.getByText('2 jobs selected').waitFor()
  await bar.getByRole('button', { name: 'Prioritise' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('jobs will be changed').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Prioritise 2' }).click()
  await dialog.getByText(/2 of 2 changed\. Done\./).waitFor()
  expect((await millrace.job(chosen[0] as string))?.priority).toBe(0)
  await dialog.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(async () => (await millrace.job(chosen[1] as string))?.priority).toBe(7)
})

test('all jobs that fit are cancelled, and the preview says what is refused', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  await millrace.enqueue(experiment, {}, { correlationId: 'unwanted', delay: '1h' })
  await millrace.enqueue(experiment, {}, { correlationId: 'unwanted' })
  await using opened = await browse('/admin/jobs?q=correlation%3Aunwanted', { as: 'operator' })
  const { page } = opened
  await page.locator('.jobs-row').getByText('completed').waitFor()
  await page.getByRole('button', { name: 'Act on all' }).click()
  await page.getByRole('menuitem', { name: 'Cancel all that fit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('job will be changed').waitFor()
  await dialog.getByText('will be refused').waitFor()
  await dialog.getByLabel('Reason').fill('nobody wants them')
  await dialog.getByRole('button', { name: 'Cancel 1' }).click()
  await dialog.getByText(/1 of .*Done\./).waitFor()
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
  await page.locator('.jobs-row').getByText('nobody wants them').waitFor()
})

test('a time is chosen in the strip, by mouse and by keys', async () => {
  await using opened = await browse('/admin/jobs?range=24h')
  const { page } = opened
  const strip = page.getByRole('group', { name: /jobs? from/ })
  await strip.waitFor()
  const box = await strip.boundingBox()
  if (box === null) throw new Error('the strip is not shown')
  await page.mouse.move(box.x + box.width * 0.5, box.y + 20)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.75, box.y + 20)
  await page.mouse.up()
  await page.waitForURL(/created%3A%3E%3D.*created%3A%3C/)
  await page.getByRole('button', { name: 'All times' }).click()
  await page.waitForURL(/\/jobs\?range=24h$/)
  await strip.focus()
  for (const key of ['ArrowLeft', 'ArrowLeft', 'Enter']) await page.keyboard.press(key)
  await page.waitForURL(/created%3A%3E%3D/)
})

test('what was found is downloaded for a spreadsheet', async () => {
  await using opened = await browse('/admin/jobs?q=status%3Adead+type%3Avan.book', { as: 'viewer' })
  const { page } = opened
  const link = page.getByRole('link', { name: 'CSV' })
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
  expect(download.suggestedFilename()).toMatch(/\.csv$/)
  const answer = await page.request.get(download.url())
  const [head, ...rows] = (await answer.text()).trim().split('\n')
  expect(head).toMatch(/^id,/)
  expect(rows.length).toBeGreaterThan(1)
  for (const row of rows) expect(row).toContain('van.book')
})

test('a search is saved under a name in this browser', async () => {
  await using opened = await browse('/admin/jobs?q=type%3Avan.book')
  const { page } = opened
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'Save this search' }).click()
  await page.getByLabel('Name').fill('Vans')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.goto(`${inject('systemUrl')}/admin/jobs`)
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitemradio', { name: 'Vans' }).click()
  await page.waitForURL(/q=type%3Avan\.book/)
})

test('a viewer can search, and finds nothing to press; on a phone nothing sticks out', async () => {
  await using opened = await browse('/admin/jobs', { as: 'viewer', width: 390, theme: 'dark' })
  const { page } = opened
  await page.getByRole('table', { name: 'Jobs' }).waitFor()
  expect(await page.getByRole('checkbox').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Act on all' }).count()).toBe(0)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await expectAccessible(page)
})
