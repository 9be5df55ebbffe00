import { withClient } from '#src/connection'

/** The first column of every row. */
export async function sql(url: string, text: string): Promise<unknown[]> {
  return await withClient(url, async (client) => {
    const { rows } = await client.query({ text, rowMode: 'array' })
    return rows.map((row) => row[0])
  })
}
