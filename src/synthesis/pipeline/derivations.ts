/**
 * Which tools do together, or by inference, what another tool does. `isSubstitute` finds single
 * tools that show the same fields, and `answerability` those that show the same values; what is
 * left is listed here.
 */

/** Short names of tools by the short name of the tool that they replace, by server. */
const derivations: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  banking: { get_balance: ["get_statement"], get_statement: ["list_transactions"] },
  budget: {
    get_category_summary: ["list_expenses", "get_monthly_summary"],
    get_monthly_summary: ["list_expenses", "get_category_summary"],
  },
  calendar: {
    check_conflicts: ["list_events", "get_agenda", "find_free_slots"],
    find_free_slots: ["list_events", "get_agenda", "check_conflicts"],
    get_agenda: ["list_events", "search_events"],
  },
  email: { forward: ["send_message"], send_draft: ["send_message"] },
  filesystem: {
    ls: ["tree", "find"],
    tree: ["ls", "find"],
    find: ["ls", "tree"],
    stat: ["ls", "find"],
    exists: ["ls", "tree", "find", "stat", "cat"],
    head: ["cat", "grep"],
    tail: ["cat", "grep"],
    wc: ["cat"],
    grep: ["cat"],
    sort: ["cat"],
    uniq: ["cat"],
    cut: ["cat"],
    diff: ["cat"],
    mv: ["cp"],
  },
  food_delivery: { filter_by_dietary: ["get_menu"], reorder: ["add_to_basket"] },
  iot_devices: {
    get_room_state: ["list_devices", "get_device"],
    get_temperature: ["get_room_state", "read_sensor", "set_thermostat"],
  },
  maps: {
    distance_matrix: ["get_route", "get_travel_time"],
    get_route: ["get_route_alternatives"],
    get_travel_time: ["get_route", "get_route_alternatives", "distance_matrix"],
  },
  shopping: {
    clear_cart: ["remove_from_cart"],
    compare_products: ["get_product", "search_products"],
  },
  team_chat: { search_messages: ["get_channel"] },
  trading: {
    get_portfolio: ["list_positions"],
    get_quote: ["get_order_book", "get_candles"],
    list_positions: ["get_portfolio"],
  },
};

/** Full names of the tools with which the assistant can work out what a tool does. */
export function listDerivingTools(tool: string): readonly string[] {
  for (const [server, tools] of Object.entries(derivations)) {
    const own = tool.startsWith(`${server}_`) ? tools[tool.slice(server.length + 1)] : undefined;
    if (own) return own.map(it => `${server}_${it}`);
  }
  return [];
}

/** All tools that are named here. */
export const listDerivationNames = (): string[] =>
  Object.entries(derivations).flatMap(([server, tools]) =>
    Object.entries(tools).flatMap(([tool, others]) =>
      [tool, ...others].map(it => `${server}_${it}`),
    ),
  );
