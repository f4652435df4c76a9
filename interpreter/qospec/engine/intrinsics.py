"""What Numba has no words for: views without a reference count, and calls by address.

A transition is compiled once, for one signature, and called by its address, so the event loop that
calls it is compiled once for every network. An array that comes from an address, or is a part of
another, holds no reference to it: whoever calls the outermost kernel keeps both alive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from qospec.internals import find_internal

if TYPE_CHECKING:
    from collections.abc import Callable

INTEGER = types.int64
NUMBERS = types.Array(types.int64, 1, "C")
ROWS = types.Array(types.int64, 2, "C")
ARRIVE = (NUMBERS, ROWS, INTEGER, INTEGER, INTEGER, ROWS)
WAKE = (NUMBERS, ROWS, INTEGER, ROWS)
ARGUMENTS = {"arrive": ARRIVE, "wake": WAKE}
"""By name, the arguments of a transition."""
ITEM_BYTES = 8

as_signed = types.int64


def keep_index(context: Any, builder: Any, kind: Any, value: Any, size: Any) -> Any:
    """Return an index as it is; Numba's own function looks whether it counts from the end.

    No kernel has such an index, and the check takes a tenth of the loops of schedulers and GCRA.
    """
    return context.cast(builder, value, kind, types.intp)


def find_by_types(get_call_template: Callable[..., Any]) -> Callable[..., Any]:
    """Return how kernels find a helper: by types, so that it is not compiled for each constant."""
    unliteral = find_internal(types, "unliteral")

    def find_template(arguments: Any, named: Any) -> Any:
        return get_call_template(tuple(map(unliteral, arguments)), named)

    return find_template


def find_address(compiled: Any, arguments: tuple[Any, ...]) -> int:
    """Return the address of a compiled kernel that takes such arguments and returns an int64."""
    compiled.compile(INTEGER(*arguments))
    result = compiled.overloads[arguments]
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


def _make_array(kind: Any) -> Any:
    return make_array(kind)  # type: ignore[no-untyped-call]


def _view(context: Any, builder: Any, kind: Any, data: Any, shape: list[Any]) -> Any:
    """Return an array of int64 at `data` that owns nothing."""
    array = _make_array(kind)(context, builder)
    item = context.get_constant(types.intp, ITEM_BYTES)
    strides = [builder.mul(shape[1], item), item] if kind.ndim == 2 else [item]  # noqa: PLR2004
    populate_array(  # type: ignore[no-untyped-call]
        array, data, shape, strides, item, meminfo=None
    )
    return find_internal(array, "_getvalue")()  # as Numba's own code does


@intrinsic
def view_part(_: Any, array: Any, start: Any, count: Any) -> Any:
    """Return a view of `count` elements from `start` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = _make_array(signature.args[0])(context, builder, arguments[0])
        data = builder.gep(whole.data, [arguments[1]])
        return _view(context, builder, signature.return_type, data, [arguments[2]])

    return NUMBERS(array, INTEGER, INTEGER), generate


@intrinsic
def view_rows(_: Any, array: Any, start: Any, count: Any, width: Any) -> Any:
    """Return a view of `count` rows from `start` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = _make_array(signature.args[0])(context, builder, arguments[0])
        data = builder.gep(whole.data, [arguments[1]])
        return _view(context, builder, signature.return_type, data, list(arguments[2:]))

    return ROWS(array, INTEGER, INTEGER, INTEGER), generate


@intrinsic(prefer_literal=True)
def allocate_scratch_rows(_: Any, count: Any, width: Any) -> Any:
    """Return rows on the stack, of a number and a width that are known when compiling."""
    shape = (count.literal_value, width.literal_value)

    def generate(context: Any, builder: Any, signature: Any, _: Any) -> Any:
        kind = context.get_value_type(INTEGER)
        data = cgutils.alloca_once(  # type: ignore[no-untyped-call]
            builder, kind, size=shape[0] * shape[1]
        )
        lengths = [context.get_constant(types.intp, length) for length in shape]
        return _view(context, builder, signature.return_type, data, lengths)

    return ROWS(count, width), generate


@intrinsic
def get_state(_: Any, states: Any, node: Any) -> Any:
    """Return the array whose address and length are in a row."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table = _make_array(signature.args[0])(context, builder, arguments[0])
        first = builder.mul(arguments[1], context.get_constant(types.int64, 2))
        address, length = (
            builder.load(builder.gep(table.data, [builder.add(first, offset)]))
            for offset in (context.get_constant(types.int64, k) for k in range(2))
        )
        data = builder.inttoptr(address, table.data.type)
        return _view(context, builder, signature.return_type, data, [length])

    return NUMBERS(ROWS, INTEGER), generate


@intrinsic
def read_double_bits(_: Any, number: Any) -> Any:
    """Return a number as a double, and that as the integer that has its bits."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        double = context.get_value_type(types.float64)
        return builder.bitcast(
            builder.sitofp(arguments[0], double), context.get_value_type(INTEGER)
        )

    return INTEGER(INTEGER), generate


def _call(context: Any, builder: Any, arguments: Any, kinds: tuple[Any, ...]) -> Any:
    """Call the function at `arguments[0][arguments[1]]` with the other arguments."""
    table = _make_array(NUMBERS)(context, builder, arguments[0])
    address = builder.load(builder.gep(table.data, [arguments[1]]))
    convention = context.call_conv
    function = builder.inttoptr(address, convention.get_function_type(INTEGER, kinds).as_pointer())
    # Kernels raise nothing: the status needs no look.
    _, result = convention.call_function(builder, function, INTEGER, kinds, arguments[2:])
    return result


@intrinsic
def call_arrive(
    _: Any,
    functions: Any,
    place: Any,
    state: Any,
    items: Any,
    item: Any,
    port: Any,
    now_ps: Any,
    out: Any,
) -> Any:
    """Call an `arrive` by its address."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return _call(context, builder, arguments, ARRIVE)

    return INTEGER(NUMBERS, INTEGER, *ARRIVE), generate


@intrinsic
def call_wake(
    _: Any, functions: Any, place: Any, state: Any, items: Any, now_ps: Any, out: Any
) -> Any:
    """Call a `wake` by its address."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return _call(context, builder, arguments, WAKE)

    return INTEGER(NUMBERS, INTEGER, *WAKE), generate
