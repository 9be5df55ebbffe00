// `npm run screenshots`: every screen in both themes at two widths, into packages/dashboard/screenshots.
// `npm run screenshots -- -t jobs` takes those whose name has "jobs" in it.
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { browse, test } from './support/browse.ts'
import { shots } from './support/shots.ts'

const folder = fileURLToPath(new URL('../screenshots/', import.meta.url))

for (const shot of shots)
  for (const theme of ['light', 'dark'] as const)
    for (const width of [1280, 390])
      test(`${shot.name} ${theme} ${width}`, async () => {
        mkdirSync(folder, { recursive: true })
        await using opened = await browse('/admin/api/me', { theme, width })
        const { page } = opened
        const url = inject('systemUrl')
        await page.goto(`${url}${typeof shot.path === 'string' ? shot.path : await shot.path(page, url)}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
        await shot.prepare?.(page)
        await page.screenshot({ path: `${folder}${shot.name}-${theme}-${width}.png`, fullPage: shot.isWindow !== true })
      })
