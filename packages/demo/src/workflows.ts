// The workflows of Fernwick Parcels.
import { defineWorkflow } from 'millrace'
import { z } from 'zod'
import {
  bookVan,
  capturePage,
  confirmOrder,
  importProduct,
  indexCatalogue,
  printLabel,
  removePage,
  reportSales,
  sendReceipt,
} from './contracts.ts'

/** A parcel from the order to the van. */
export const sendParcel = defineWorkflow('parcel.send', {
  input: z.object({ orderId: z.string(), parcelId: z.string() }),
  onFailure: 'stop',
})
  .step('confirm', confirmOrder, { payload: ({ input }) => ({ orderId: input.orderId, amountCents: 4_950 }) })
  .step('label', printLabel, {
    after: 'confirm',
    payload: ({ input }) => ({ parcelId: input.parcelId, format: 'a6' as const }),
  })
  .step('van', bookVan, {
    after: 'confirm',
    payload: ({ input }) => ({ parcelId: input.parcelId, postcode: 'FW4 2RN', kilograms: 1.4 }),
  })
  .step('receipt', sendReceipt, {
    after: { label: 'fail', van: 'continue' },
    payload: ({ input }) => ({ orderId: input.orderId, to: 'customer-77@example.com' }),
  })

/** All products of a shop that joins: hundreds of jobs side by side, then one for the index. */
export const importCatalogue = defineWorkflow('catalogue.import', {
  input: z.object({ shop: z.string(), products: z.int(), prefix: z.string() }),
  onFailure: 'stop',
})
  .each('products', importProduct, {
    over: ({ input }) => Array.from({ length: input.products }, (_, row) => row + 1),
    payload: ({ input, item }) => ({ sku: `${input.prefix}-${item}`, row: item }),
  })
  .step('index', indexCatalogue, {
    after: { products: 'continue' },
    payload: ({ input }) => ({ shop: input.shop, products: input.products }),
  })
  .signal('approval', { after: 'index', timeout: '3d' })
  .step('report', reportSales, { after: 'approval', payload: ({ input }) => ({ day: 'today', shop: input.shop }) })

/** Pictures of a shop's pages, which are removed again if the index does not take them. */
export const publishPages = defineWorkflow('pages.publish', {
  input: z.object({ shop: z.string(), urls: z.array(z.string()) }),
})
  .each('capture', capturePage, {
    over: ({ input }) => input.urls,
    payload: ({ item }) => ({ url: item }),
    undo: { job: removePage, payload: ({ result }) => ({ file: result.file }) },
  })
  .step('index', indexCatalogue, {
    after: 'capture',
    payload: ({ input }) => ({ shop: input.shop, products: input.urls.length }),
  })
