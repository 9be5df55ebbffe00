// A real Prisma client without models, made as the code that `prisma generate` writes makes it.
//
// The generator itself is not a dependency: it comes with 150 packages and wants a schema engine from a server other
// than the npm registry. What it writes is this configuration, plus types and models that no raw statement needs.
import { PrismaPg } from '@prisma/adapter-pg'
import { type GetPrismaClientConfig, getPrismaClient } from '@prisma/client/runtime/client'

/** Node has it; its types come with those of browsers, which this project does without. */
const { WebAssembly } = globalThis as unknown as { WebAssembly: { Module: new (bytes: Uint8Array) => never } }
const PROVIDER = 'postgresql'
const runtime = '@prisma/client/runtime'

const config: GetPrismaClientConfig = {
  previewFeatures: [],
  clientVersion: '7.10.0',
  engineVersion: '0edf323efd1d98336f3f0a68684b56f689b900d3',
  activeProvider: PROVIDER,
  inlineSchema: `datasource db {\n  provider = "${PROVIDER}"\n}\n`,
  runtimeDataModel: { models: {}, enums: {}, types: {} },
  parameterizationSchema: { strings: [], graph: 'AAAA' },
  compilerWasm: {
    getRuntime: () => import(`${runtime}/query_compiler_fast_bg.${PROVIDER}.mjs`),
    getQueryCompilerWasmModule: async () => {
      const { wasm } = await import(`${runtime}/query_compiler_fast_bg.${PROVIDER}.wasm-base64.mjs`)
      return new WebAssembly.Module(Buffer.from(wasm, 'base64'))
    },
    importName: './query_compiler_fast_bg.js',
  },
}

interface RawTransaction {
  $executeRawUnsafe(query: string, ...values: unknown[]): Promise<number>
  $queryRawUnsafe(query: string, ...values: unknown[]): Promise<unknown>
  $queryRaw<Rows>(query: TemplateStringsArray, ...values: unknown[]): Promise<Rows>
}

export interface RawPrismaClient extends RawTransaction {
  $transaction<Value>(work: (tx: RawTransaction) => Promise<Value>): Promise<Value>
  $connect(): Promise<void>
  $disconnect(): Promise<void>
}

export function prismaClient(connectionString: string): RawPrismaClient {
  const PrismaClient = getPrismaClient(config)
  return new PrismaClient({ adapter: new PrismaPg({ connectionString }) }) as unknown as RawPrismaClient
}
