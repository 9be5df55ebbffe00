import { type OrderDeskOptions, orderDesk } from './order-desk.ts'

export { LARGE_SHOP, SMALL_SHOP } from './shops.ts'
export { type OrderDeskOptions, orderDesk }
export default orderDesk()
