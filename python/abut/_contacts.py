"""Contacts as structured arrays."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KINDS = ("none", "point", "line", "surface")
MODES = ("stick", "slip", "separating")


@lru_cache(maxsize=1)
def number_dtype() -> np.dtype[Any]:
    """The numbers of a contact, in the layout of the compiled part."""
    import numpy as np

    ints = ["body1", "body2", "geom1", "geom2", "kind", "mode", "nfacet", "nvert"]
    vectors = ["point", "normal", "t1", "t2", "force", "torque", "normal_force", "normal_torque", "friction_force", "friction_torque"]
    dtype = np.dtype(
        [(n, np.int32) for n in ints]
        + [(n, np.float64, (3,)) for n in vectors]
        + [("free_moment", np.float64), ("area", np.float64), ("depth", np.float64), ("slip", np.float64, (3,))]
    )
    assert dtype.itemsize == _core.CONTACT_RECORD
    return dtype


@lru_cache(maxsize=1)
def contact_dtype() -> np.dtype[Any]:
    """The numbers, and the outline of the patch with the pressure at its corners."""
    import numpy as np

    return np.dtype(number_dtype().descr + [("polygon", object), ("pressure", object)])


def contact_numbers(data: _core.Data) -> NDArray[Any]:
    return data.contact_records().view(number_dtype())


def contacts(data: _core.Data) -> NDArray[Any]:
    import numpy as np

    numbers = contact_numbers(data)
    all_ = np.empty(len(numbers), contact_dtype())
    for name in number_dtype().names or ():
        all_[name] = numbers[name]
    for i in range(len(numbers)):
        all_["polygon"][i] = data.outline(i, False)
        all_["pressure"][i] = data.outline(i, True)
    return all_
