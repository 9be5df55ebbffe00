import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Implementation, implement, Unrecoverable } from 'millrace'
import type { Desk } from './handlers.ts'
import { isNth } from './nth.ts'
import { capturePage, compressPage, removeFile, uploadPage } from './pages.ts'

const compressed = promisify(gzip)

/** `fullEvery`: every nth upload fails for good; 0 is never. */
export function pageHandlersAt(desk: () => Desk, fullEvery: number): Implementation[] {
  const pathOf = (folder: 'work' | 'kept', file: string) => join(desk().folder, folder, file)
  let uploads = 0
  return [
    implement(capturePage, async ({ orderId, name }, ctx) => {
      const response = await fetch(`${desk().service.pagesUrl}/${orderId}`, { signal: ctx.signal })
      const page = await response.text()
      if (response.status === 404) throw new Unrecoverable(`Order ${orderId} has no page: ${page}`)
      if (!response.ok) throw new Error(`The page of order ${orderId} is not to be had: ${response.status} ${page}`)
      const file = `${name}.html`
      await writeFile(pathOf('work', file), page)
      return { file }
    }),

    implement(compressPage, async ({ file }) => {
      const small = await compressed(await readFile(pathOf('work', file)))
      await writeFile(pathOf('work', `${file}.gz`), small)
      return { file: `${file}.gz`, bytes: small.length }
    }),

    implement(uploadPage, async ({ file }) => {
      if (isNth(++uploads, fullEvery)) throw new Unrecoverable(`The folder is full: it does not take ${file}.`)
      await copyFile(pathOf('work', file), pathOf('kept', file))
      return { file }
    }),

    implement(removeFile, ({ file, from }) => rm(pathOf(from, file), { force: true })),
  ]
}

export async function makeFolders(folder: string): Promise<void> {
  for (const each of ['work', 'kept']) await mkdir(join(folder, each), { recursive: true })
}
