// Transactions of other libraries in the shape that `enqueue({ tx })` and `ctx.complete(tx)` take. None of them is imported.
export { type DrizzleTransaction, fromDrizzle } from './drizzle.ts'
export { fromKnex, type KnexTransaction } from './knex.ts'
export { fromKysely, type KyselyTransaction } from './kysely.ts'
export { fromPrisma, type PrismaTransaction } from './prisma.ts'
