// Files of organizations, in a folder that all processes share. A file is there whole, or not at all.
import { createHash, randomUUID } from 'node:crypto'
import { constants, createReadStream, createWriteStream, type ReadStream } from 'node:fs'
import { access, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A name, not a path: no row can name a file outside the folder. */
const NAME = /^[\w-][\w.-]{0,120}$/

export interface StoredFile {
  readonly bytes: number
  readonly sha256: string
}

export class FolderUnusable extends Error {
  override readonly name = 'FolderUnusable'

  constructor(folder: string, cause: unknown) {
    super(`Dartwing cannot write into DARTWING_FILES, ${folder}. Make the folder writable, or set another one.`, {
      cause,
    })
  }
}

export class Storage {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Throws FolderUnusable. */
  async check(): Promise<void> {
    try {
      await mkdir(this.#folder, { recursive: true })
      await access(this.#folder, constants.W_OK)
    } catch (cause) {
      throw new FolderUnusable(this.#folder, cause)
    }
  }

  pathOf(organization: string, name: string): string {
    if (!NAME.test(organization) || !NAME.test(name))
      throw new TypeError(`${JSON.stringify(name)} is no name of a file: expected letters, digits, "_", "-" or ".".`)
    return join(this.#folder, organization, name)
  }

  /** Written beside, synced, then renamed: a process that dies leaves no half file under the name. */
  async write(organization: string, name: string, content: Readable, signal?: AbortSignal): Promise<StoredFile> {
    const path = this.pathOf(organization, name)
    await mkdir(join(this.#folder, organization), { recursive: true })
    const part = `${path}.${randomUUID()}.part`
    try {
      const hash = createHash('sha256')
      await pipeline(
        content,
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            hash.update(chunk)
            yield chunk
          }
        },
        createWriteStream(part),
        ...(signal === undefined ? [] : [{ signal }]),
      )
      const { size: bytes } = await stat(part)
      const file = await open(part, 'r+')
      await file.sync().finally(() => file.close())
      await rename(part, path)
      return { bytes, sha256: hash.digest('hex') }
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }

  /** As the body of an answer. */
  web(organization: string, name: string): ReadableStream<Uint8Array> {
    return Readable.toWeb(this.read(organization, name)) as unknown as ReadableStream<Uint8Array>
  }

  /** `to` is the offset behind the last byte. */
  read(organization: string, name: string, { from = 0, to }: { from?: number; to?: number } = {}): ReadStream {
    return createReadStream(this.pathOf(organization, name), { start: from, ...(to !== undefined && { end: to - 1 }) })
  }
}
