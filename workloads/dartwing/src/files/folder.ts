import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where files of organizations lie unless DARTWING_FILES says otherwise: a folder of this user. */
export const filesFolder = (configured: string | undefined): string =>
  configured ?? join(tmpdir(), `dartwing-files-${process.getuid?.() ?? 'shared'}`)
